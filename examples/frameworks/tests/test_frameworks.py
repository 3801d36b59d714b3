"""What the kit finds in real frameworks: the evidence for docs/frameworks.md.

A framework runs where it is installed: here, or in the environment whose interpreter FEDCONVEX_PEERS names
(FEDCONVEX_PEERS=flower=/its/python,pfl=/its/python,fedlab=/its/python). That environment has fedconvex's requirements
too. What is expected was found in the versions below; for other versions nothing is claimed.
"""

import importlib.util
import json
import os
import re
import runpy
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from fedconvex.safe_text import in_markdown_table

pytestmark = pytest.mark.beyond_core  # starts processes

HERE = Path(__file__).parent
ROOT = HERE.parents[2]
DOCUMENT = ROOT / "docs" / "frameworks.md"
PACKAGES = {
    "flower": "flwr",
    "pfl": "pfl",
    "fedlab": "fedlab",
    "pfllib": "flcore",
    "fluke": "fluke",
    "nvflare": "nvflare",
    "fedml": "fedml",
    "flbench": "src",
    "fedadmm": "federated_main",
}
VERSIONS = {
    "flower": ("1.41.0", "1.42.0"),
    "pfl": ("0.6.0",),
    "fedlab": ("1.3.0",),
    "pfllib": ("d832e76",),
    "fluke": ("0.8.1",),
    "nvflare": ("2.9.0",),
    "fedml": ("0.9.6",),
    "flbench": ("06e658b",),
    "fedadmm": ("1efef57",),
}

UNKNOWN = "no known fault explains the deviation"
WRONG_SIGN = "the correction of the local gradient has the wrong sign"
OVERWRITTEN = "the stored control variates are overwritten before they are used"
NOT_WEIGHTED = "the average is not weighted"
SCALED_UP = "the server's step is multiplied by m/|P_t|"
NO_GRADIENT = "the regulariser has no gradient"
SUBTRACTED_ONCE = "server memory subtracts the server's model once, not from every client's"

BY_RELATIVE_SAMPLES = "alpha is divided by the client's relative number of samples, m·n_k/Σn"
TIMES_ALPHA = "the correction of the local gradient is multiplied by alpha"
MEMORY_ADDED = "the server adds the mean memory of those who take part, instead of −h/alpha"
NEWCOMERS = "clients that take part for the first time start at the mean of the local models, without −h/alpha"
ORDER = "the result depends on the order of the clients"
CHAINED = "every client starts where the one before it ended, in the first round"
CHAINED_WITH_PULL = (
    "every client starts where the one before it ended, and its proximal term pulls there, in the first round"
)
NEVER_STORED = "the clients' memory is never stored"
LAST_MODEL = "only the last client's model counts"
LAST_CHANGE = "only the last client's change reaches the server's memory"
FROM_LAST = "server memory measures the changes from the last client's model, not from the server's"
FIRST_STEP = "the server's model keeps the first local step of the first client, in the first round"
UNDIVIDED = "server memory is not divided by alpha"
BY_SAMPLES = "the average is weighted by samples"
FROM_SERVER = "changes are measured from the server's model instead of the client's last answer"
SHARED = "clients share one memory: each goes on with what the one before it left"

EXPECTED: dict[tuple[str, str], set[str]] = {
    ("flower", "FedAvg"): set(),
    ("flower", "FedProx, the documented client"): {"the proximal term is always zero"},
    ("flower", "FedProx, the documented client with a list"): {"the norm in the proximal term is not squared"},
    ("flower", "FedProx, the documented formula"): set(),
    ("flower", "FedAvgM"): set(),
    ("flower", "FedAdagrad"): set(),
    ("flower", "FedYogi"): set(),
    ("flower", "FedAdam"): {UNKNOWN},
    ("flower", "FedAdam, late rounds"): set(),
    ("pfl", "FedAvg"): set(),
    ("pfl", "FedProx"): set(),
    ("pfl", "SCAFFOLD"): {WRONG_SIGN},
    ("pfl", "SCAFFOLD, option I"): {WRONG_SIGN, OVERWRITTEN},
    ("pfl", "SCAFFOLD, option I, stored copies"): {WRONG_SIGN},
    ("pfl", "SCAFFOLD, option I, sign mended"): {OVERWRITTEN},
    ("pfl", "SCAFFOLD, mended"): set(),
    ("pfl", "SCAFFOLD, option I, mended"): set(),
    ("fedlab", "FedAvg"): {NOT_WEIGHTED},
    ("fedlab", "FedAvg, equal weights"): set(),
    ("fedlab", "FedProx"): {NOT_WEIGHTED},
    ("fedlab", "FedProx, equal weights"): set(),
    ("fedlab", "FedNova, weighted_scale, equal weights"): {SCALED_UP},
    ("fedlab", "FedNova, uniform, equal weights"): set(),
    ("fedlab", "FedNova, weighted_com, equal weights"): set(),
    ("fedlab", "SCAFFOLD"): set(),
    ("fedlab", "FedDyn"): {NO_GRADIENT, SUBTRACTED_ONCE},
    ("fedlab", "FedDyn, regulariser mended"): {SUBTRACTED_ONCE},
    ("fedlab", "FedDyn, server memory mended"): {NO_GRADIENT},
    ("fedlab", "FedDyn, mended"): set(),
    ("pfllib", "FedAvg"): set(),
    ("pfllib", "FedProx"): set(),
    ("pfllib", "SCAFFOLD"): set(),
    ("pfllib", "FedDyn"): {"the norm in the proximal term is not squared"},
    ("pfllib", "FedDyn, mended"): set(),
    ("fluke", "FedAvg"): set(),
    ("fluke", "FedProx"): set(),
    ("fluke", "SCAFFOLD"): set(),
    ("fluke", "FedDyn"): {BY_RELATIVE_SAMPLES, WRONG_SIGN, TIMES_ALPHA, MEMORY_ADDED, NEWCOMERS},
    ("fluke", "FedNova"): set(),
    ("nvflare", "FedAvg"): set(),
    ("nvflare", "FedProx"): set(),
    ("nvflare", "FedAvgM"): set(),
    ("nvflare", "SCAFFOLD"): {"server memory is divided by |P_t| instead of m"},
    ("nvflare", "SCAFFOLD, mended"): set(),
    ("fedml", "FedAvg"): {CHAINED, ORDER},
    ("fedml", "FedProx"): {CHAINED_WITH_PULL, ORDER},
    ("fedml", "FedNova"): set(),
    ("fedml", "SCAFFOLD"): {LAST_MODEL, LAST_CHANGE, NEVER_STORED, FIRST_STEP, ORDER},
    ("fedml", "FedDyn"): {CHAINED, NO_GRADIENT, FROM_LAST, UNDIVIDED, ORDER},
    ("fedml", "FedAvg, first model copied"): set(),
    ("fedml", "FedProx, first model copied"): set(),
    ("fedml", "SCAFFOLD, first model copied"): {LAST_MODEL, LAST_CHANGE, NEVER_STORED, ORDER},
    ("fedml", "FedDyn, first model copied"): {NO_GRADIENT, FROM_LAST, UNDIVIDED, ORDER},
    ("flbench", "FedAvg"): set(),
    ("flbench", "FedProx"): set(),
    ("flbench", "FedAvgM"): {"the server's momentum is Nesterov's"},
    ("flbench", "FedAdam"): set(),
    ("flbench", "FedYogi"): set(),
    ("flbench", "FedAdagrad"): set(),
    ("flbench", "SCAFFOLD"): {NEVER_STORED},
    ("flbench", "SCAFFOLD, mended"): set(),
    ("flbench", "FedADMM"): {BY_SAMPLES, FROM_SERVER, SHARED, ORDER},
    ("fedadmm", "FedADMM"): {FROM_SERVER},
    ("fedadmm", "FedADMM, mended"): set(),
    ("flbench", "FedDyn"): {BY_SAMPLES, "the proximal term lacks its quadratic part"},
}
EXAMPLES = re.findall(r"```py\n(# (\w+)\n.*?)```", DOCUMENT.read_text("utf-8"), re.DOTALL)


def interpreter(framework: str) -> str:
    """The Python in which the framework is installed; skips where there is none."""
    named = dict(part.split("=", 1) for part in os.environ.get("FEDCONVEX_PEERS", "").split(",") if "=" in part)
    if framework in named:
        return named[framework]
    if importlib.util.find_spec(PACKAGES[framework]) is not None:
        return sys.executable
    pytest.skip(f"{PACKAGES[framework]} is not installed here, and FEDCONVEX_PEERS names no {framework}=/its/python")


def run(framework: str, *arguments: str) -> None:
    """Run Python in the framework's environment; skips where it has the framework but lacks what fedconvex needs."""
    python = interpreter(framework)
    environment = os.environ | {"PYTHONPATH": f"{ROOT}{os.pathsep}{HERE}{os.pathsep}{HERE.parent}"}
    command = [python, "-W", "ignore", *arguments]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=600)
    last = done.stderr.strip().rpartition("\n")[2]
    if last.startswith("ModuleNotFoundError"):
        pytest.skip(f"{python}: {last}")
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.fixture(scope="session")
def answers(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """By the framework's name, what `run_framework` found; each framework runs once."""

    @cache
    def answer(framework: str) -> dict[str, Any]:
        file = tmp_path_factory.mktemp(framework) / "answer.json"
        run(framework, str(HERE / "run_framework.py"), framework, str(file))
        found: dict[str, Any] = json.loads(file.read_text("utf-8"))
        if found["version"] not in VERSIONS[framework]:
            pytest.skip(f"{framework} {found['version']}: findings are recorded for {VERSIONS[framework]}")
        return found

    return answer


@pytest.mark.parametrize(("framework", "case"), EXPECTED)
def test_the_kit_finds(framework: str, case: str, answers: Any) -> None:
    found = answers(framework)["found"][case]
    assert set(found["diagnosis"]) == EXPECTED[framework, case], found["report"]
    assert (found["verdict"] == "differs") == bool(EXPECTED[framework, case])


@pytest.mark.parametrize("framework", PACKAGES)
def test_no_finding_goes_unmentioned(framework: str, answers: Any) -> None:
    assert set(answers(framework)["found"]) == {case for name, case in EXPECTED if name == framework}


def test_flower_still_documents_the_client_that_is_checked(answers: Any) -> None:
    documented = answers("flower")["documented"]
    assert re.search(r"\.norm\(2\)(?!\s*\*\*)", documented)
    assert "copy.deepcopy(net).parameters()" in documented
    assert "|| w - w^t ||^2" in documented


@pytest.mark.parametrize(("program", "package"), EXAMPLES, ids=[f"{p}-{i}" for i, (_, p) in enumerate(EXAMPLES)])
def test_an_example_of_the_document_runs(program: str, package: str, tmp_path: Path) -> None:
    framework = {package: name for name, package in PACKAGES.items()}[package]
    file = tmp_path / "example.py"
    file.write_text(program, "utf-8")
    start = "import run_framework, runpy, sys; run_framework.without_torchvision(); runpy.run_path(sys.argv[1])"
    run(framework, "-c", start, str(file))


LEAVES_NOTHING = """
import os
import run_framework

run_framework.without_torchvision()
import numpy as np
import fedadmm_adapter
import torch

import fedconvex as fc
from fedconvex.conformance import check

method, steps = fc.FedADMM(rho=1, server_stepsize=1), fc.GradientDescent(steps=2, stepsize=0.1)
seen = lambda: (np.random.choice, torch.Tensor.cuda, torch.nn.CrossEntropyLoss, os.environ.get("CUDA_VISIBLE_DEVICES"))
np.random.seed(1)
before, files, drawn = seen(), os.listdir(), np.random.random()
np.random.seed(1)
assert not check(method, **fedadmm_adapter.wrap(method, steps), local_solver=steps).passed
assert (seen(), os.listdir(), np.random.random()) == (before, files, drawn)
"""


def test_the_program_of_fedadmm_s_authors_leaves_the_process_as_it_was() -> None:
    """It sets seeds and variables of the environment, and writes logs and results, where nobody stops it."""
    run("fedadmm", "-c", LEAVES_NOTHING)


def test_the_stored_runs_are_those_that_the_document_tabulates() -> None:
    made: dict[str, Any] = runpy.run_path(str(ROOT / "docs" / "making" / "frameworks_table.py"))
    rows = [line.split(" | ") for line in made["table"]().splitlines()[2:]]
    stored = {file.stem: json.loads(file.read_text("utf-8")) for file in (HERE / "found").glob("*.json")}
    assert stored.keys() == set(PACKAGES)
    cases = [(name, in_markdown_table(case)) for name, run in sorted(stored.items()) for case in run["found"]]
    assert [(row[0][2:], row[2]) for row in rows] == cases
    faulty = {case for case, names in EXPECTED.items() if names} - made["READINGS"].keys()
    assert {(row[0][2:], row[2]) for row in rows if row[3] == "differs"} == faulty
    assert made["PLACES"].keys() <= faulty
    for framework, run_before in stored.items():
        assert run_before["version"] in VERSIONS[framework]
        found = {case: set(one["diagnosis"]) for case, one in run_before["found"].items()}
        assert found == {case: names for (name, case), names in EXPECTED.items() if name == framework}


def test_the_document_has_an_example_for_every_framework() -> None:
    assert {package for _, package in EXAMPLES} == set(PACKAGES.values())
