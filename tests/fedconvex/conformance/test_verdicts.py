"""Three verdicts: what was not seen is undecided, in the report, in files and in the exit status."""

import json
import xml.etree.ElementTree as ElementTree
from pathlib import Path
from typing import Any

import numpy as np
import plain_methods as plain
import pytest
from command_runner import running

import fedconvex as fc
from fedconvex.conformance import DoesNotConform, Report, check, conforms_to, findings
from fedconvex.conformance.report_files import badge_of, junit_of

pytestmark = pytest.mark.beyond_core  # takes seconds

MOVING: dict[str, Any] = {"stepsize": 0.1, "local_steps": 4}
STEPS, ONE = fc.GradientDescent(steps=4, stepsize=0.1), fc.GradientDescent(steps=1, stepsize=0.1)
run = running("conform")


def functions(made: Any, equal: bool = False, everyone: bool = False, clients: bool = False) -> dict[str, Any]:
    """Its functions, for all clients to do equal work (`equal`) or to take part in every round (`everyone`)."""

    def varying(problem: Any, state: Any, active: Any, local_steps: Any) -> Any:
        if everyone and len(active) < problem.num_clients:
            raise NotImplementedError("only for all clients")
        return made.round(problem, state, active, local_steps)

    def alike(problem: Any, state: Any, active: Any) -> Any:
        return made.round(problem, state, active, [made.steps] * len(active))

    found = {"init": made.init, "round": alike if equal else varying, "server_model": made.server_model}
    return {**found, "client_models": made.client_models} if clients else found


def fedavg(steps: int = 4) -> Any:
    return plain.FedProx(stepsize=0.1, steps=steps)


def dynamic(method: Any, **given: Any) -> Report:
    made = plain.FedDyn(alpha=2, stepsize=0.5)
    return check(method, init=made.init, round=made.round, server_model=made.server_model, **given)


# what is checked, the verdict, and words of what was not covered
CASES = {
    "FedAvg's code as FedNova, of equal work": (
        lambda: check(fc.FedNova(**MOVING), **functions(fedavg(), equal=True)),
        "undecided", "FedNova's division by the local work; unequal local work: give round an argument local_steps",
    ),
    "FedNova of equal work": (
        lambda: check(fc.FedNova(**MOVING), **functions(plain.FedNova(stepsize=0.1, steps=4), equal=True)),
        "undecided", "FedNova's division by the local work",
    ),
    "FedNova with one local step": (
        lambda: check(fc.FedNova(stepsize=0.1), **functions(fedavg(1))), "undecided", "check with two or more",
    ),
    "FedAvg's code as FedNova, of unequal work": (
        lambda: check(fc.FedNova(**MOVING), **functions(fedavg())), "differs", "",
    ),
    "FedNova": (
        lambda: check(fc.FedNova(**MOVING), **functions(plain.FedNova(stepsize=0.1, steps=4))), "conforms", "",
    ),
    "FedProx with one local step": (
        lambda: check(fc.FedProx(mu=0.5), **functions(fedavg(1)), local_solver=ONE), "undecided", "the proximal term",
    ),
    "FedProx without a term": (
        lambda: check(fc.FedProx(mu=0.5), **functions(fedavg()), local_solver=STEPS), "differs", "",
    ),
    "momentum with one local step": (
        lambda: check(
            fc.FedGD(stepsize=0.1), **functions(fedavg(1)),
            local_solver=fc.SGD(steps=1, batch_size=None, stepsize=0.1, momentum=0.9),
        ),
        "undecided", "momentum",
    ),
    "FedDyn of one gradient step, whose paper takes no more": (
        lambda: dynamic(fc.FedDynOneGD(alpha=2)), "conforms", "",
    ),
    "FedDyn with one step of a solver": (
        lambda: dynamic(fc.FedDyn(alpha=2), local_solver=fc.GradientDescent(steps=1, stepsize=0.5)),
        "undecided", "the proximal term",
    ),
    "no partial participation": (
        lambda: check(fc.FedGD(**MOVING), **functions(fedavg(), everyone=True)), "undecided", "partial participation",
    ),
    "Ditto whose personal models nobody sees": (
        lambda: check(
            fc.Ditto(**MOVING, regularization=0.5), **functions(plain.Ditto(stepsize=0.1, steps=4, lam=0.5))
        ),
        "undecided", "client_models",
    ),
    "Ditto": (
        lambda: check(
            fc.Ditto(**MOVING, regularization=0.5),
            **functions(plain.Ditto(stepsize=0.1, steps=4, lam=0.5), clients=True),
        ),
        "conforms", "",
    ),
    "half precision": (
        lambda: check(fc.FedGD(**MOVING), **functions(fedavg()) | {"server_model": lambda s: np.float16(s["w"])}),
        "differs", "",
    ),
    "a package that is missing": (
        lambda: check(fc.FedGD(**MOVING), **functions(fedavg()) | {"init": lambda *_: __import__("no_such")}),
        "undecided", "",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_the_verdict_and_what_was_not_covered(name: str) -> None:
    made, verdict, missing = CASES[name]
    report = made()
    assert report.verdict == verdict, report.report()
    assert report.passed == (verdict == "conforms")
    assert any(missing in one for one in report.covered.missing) or not missing
    assert bool(report.covered.missing) <= (verdict != "conforms")
    assert all(f"not covered: {one}" in report.report() for one in report.covered.missing)
    suite = ElementTree.fromstring(junit_of(report, "a.py:B"))
    assert (suite.attrib["errors"] == "1") == (verdict == "undecided")
    assert (int(suite.attrib["failures"]) > 0) == (verdict == "differs")
    assert f">{verdict}<".encode() in badge_of(report)


def test_coverage_is_what_the_runs_had() -> None:
    whole = check(fc.FedGD(**MOVING), **functions(fedavg(), clients=True)).covered
    assert (whole.local_steps, whole.unequal_work, whole.partial_participation) == ((1, 2, 4), True, True)
    assert (whole.part, whole.problems, whole.client_models, whole.unequal_samples) == ("both", 8, True, True)
    equal = check(fc.FedGD(**MOVING), **functions(fedavg(), equal=True))
    assert (equal.covered.local_steps, equal.covered.unequal_work) == ((4,), False)
    assert equal.verdict == "conforms"  # unequal work is none of FedGD's own rules: a note
    assert findings.EQUAL_WORK in equal.notes


def test_an_undecided_check_fails_a_test() -> None:
    @conforms_to(fc.FedNova(**MOVING))
    def ours() -> Any:
        return functions(fedavg(), equal=True)

    with pytest.raises(DoesNotConform, match="undecided"):
        ours()


WRAPPER = """
import fedconvex as fc

class Nova:
    method = fc.FedNova(stepsize=0.1, local_steps=2)
    init = staticmethod(lambda problem, x0: x0)
    server_model = staticmethod(lambda w: w)

    def round(self, problem, w, active):
        n, new = sum(len(problem.b[k]) for k in active), 0
        for k in active:
            theta = w
            for _ in range(2):
                theta = theta - 0.1 * problem.A[k].T @ (problem.A[k] @ theta - problem.b[k])
            new = new + len(problem.b[k]) / n * theta
        return new
"""


def test_an_undecided_check_has_an_exit_status_of_its_own(
    run: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("nova.py").write_text(WRAPPER, "utf-8")
    out = run.prints("nova.py:Nova", "--json", "a.json", "--badge", "a.svg", status=3)
    assert "undecided" in out.splitlines()[0]
    read = json.loads(Path("a.json").read_text("utf-8"))
    assert (read["verdict"], read["passed"], read["covered"]["unequal_work"]) == ("undecided", False, False)
    assert ">undecided</text>" in Path("a.svg").read_text("utf-8")
