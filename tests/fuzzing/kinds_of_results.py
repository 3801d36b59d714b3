"""The files that the package writes and reads again, and the experiments that users write: see `kinds_of_files`."""

import json
import os
from fractions import Fraction
from typing import Any

import numpy as np
from experiment_texts import EVERYTHING, RUN
from kinds_of_files import Folder, Kind, file, picture

INTERVAL = {"value": 0.5, "lower": 0.25, "upper": 1, "certainty": "enclosed"}
METHOD = {
    "method": "FedProx(mu=2)", "bias": INTERVAL, "floor": {**INTERVAL, "lower": -1e-9}, "attracting": True,
    "predicted_contraction": 0.5, "measured_contraction": None, "outcome": "in 3 rounds", "predicted_at": "last round",
}  # fmt: skip
AUDIT = {
    "source": "a.csv", "problem": "LeastSquares(m=2)", "clients": 2, "dimension": 3, "tolerance": 1e-6,
    "constants": {"L": 9.1, "mu": 0.4, "kappa": None, "dissimilarity_at_zero": 1.5, "dissimilarity_near_optimum": None,
                  "gradient_variance_at_optimum": 0.1},
    "minimizer": {"certainty": "enclosed", "point": [1.0, 2.0]},
    "methods": [METHOD, {**METHOD, "bias": None, "floor": None, "attracting": None}],
}  # fmt: skip


def experiment(folder: Folder) -> Any:
    """All that precedes the runs."""
    import pandas

    from fedconvex.reproduce.execution import fingerprint_of, rounds_of, seeds
    from fedconvex.reproduce.inputs import problem_of, setting_of
    from fedconvex.reproduce.metrics import ExperimentMetrics
    from fedconvex.reproduce.specification import experiments
    from fedconvex.reproduce.summary import check

    for quick in (False, True):
        for one in experiments(folder, quick).values():
            check(one, ExperimentMetrics(one, pandas.DataFrame()))
            if one.runner != "sweep":
                continue
            fingerprint_of(one)
            list(seeds(one)[:2])
            for label in one.data:
                problem = problem_of(one, label, 0)
                for method in one.methods:
                    rounds_of(one, method)
                    setting_of(one, method, problem)


def deep_run(folder: Folder) -> Any:
    from fedconvex.deep.config import read_config

    read_config(folder / "run.toml").run(rounds=1, progress=False)


# ---- proofs


def proof(folder: Folder) -> None:
    from fedconvex.proofs_checks.export.proof_files import write_proofs
    from fedconvex.theory import fedprox

    write_proofs(folder, [fedprox.equation3])


def replayed(folder: Folder) -> Any:
    """The kernel's refusal is an answer about the proof, not an error."""
    from fedconvex.proofs_checks.export.proof_files import replayed
    from fedconvex.proofs_checks.kernel import Refused

    try:
        replayed(folder / "fedprox.equation3.json")
    except Refused:
        return None


def cached(folder: Folder) -> None:
    from fedconvex.proofs_checks.reporting.cache import ENVIRONMENT_VARIABLE, store_content

    os.environ[ENVIRONMENT_VARIABLE] = os.fspath(folder)
    store_content("one", {"identifier": "one", "lines": [["PROVED", 1], ["UNKNOWN", 2]]})


def from_cache(folder: Folder) -> Any:
    """A damaged entry of the cache is no entry."""
    from fedconvex.proofs_checks.reporting.cache import ENVIRONMENT_VARIABLE, load, load_content

    os.environ[ENVIRONMENT_VARIABLE] = os.fspath(folder)
    load("one")
    assert load_content("one") in (None, {"identifier": "one", "lines": [["PROVED", 1], ["UNKNOWN", 2]]})


# ---- results


def audited(folder: Folder) -> None:
    (folder / "audit.json").write_text(json.dumps(AUDIT), "utf-8")


def reported_audit(folder: Folder) -> Any:
    from fedconvex.report.audits import section

    str(section(folder / "audit.json")).encode()


def summary(folder: Folder) -> None:
    from fedconvex.reproduce.summary import PACKAGED

    place = folder / "fedsplit.figure1"
    place.mkdir(exist_ok=True)
    (place / "summary.json").write_bytes((PACKAGED / "fedsplit.figure1.json").read_bytes())


def pictured(folder: Folder) -> None:
    from fedconvex.report.experiments import PICTURE

    summary(folder)
    (folder / "fedsplit.figure1" / PICTURE).write_bytes(picture("PNG"))


def reported_summary(folder: Folder) -> Any:
    from fedconvex.report.experiments import section
    from fedconvex.reproduce.summary import last_results, markdown

    found = last_results({"fedsplit.figure1": None}, folder)
    "".join(map(str, section(found, folder))).encode()
    markdown(found).encode()


def curves(folder: Folder) -> Any:
    from fedconvex.reproduce.metrics import official_curves

    official_curves(folder)


CURVES = b"run,round,train_loss,test_acc,grad_variance\n" + b"".join(
    b"mnist_mu%d,%d,%f,%f,%f\n" % (mu, t, 1 / (t + 1), 0.5, 2.0) for mu in (0, 1) for t in range(4)
)

# ---- checkpoints and tables of runs


def runs(arithmetic: str) -> Any:
    import fedconvex as fc

    problem = fc.LeastSquares(A=[[[1, 2], [0, 1]], [[1, 0], [3, 1]]], b=[[1, 2], [3, 4]])

    def run(folder: Folder) -> Any:
        return fc.simulate(
            fc.FedGD(stepsize=Fraction(1, 20), local_steps=2), problem, rounds=3,
            arithmetic=arithmetic, checkpoint=folder / f"{arithmetic}.npz", checkpoint_every=2,
        )  # fmt: skip

    return run


def trained(folder: Folder) -> Any:
    import torch

    import fedconvex as fc
    from fedconvex import deep

    torch.manual_seed(0)
    pairs = [(np.eye(3), np.arange(3)), (np.ones((2, 3)), np.arange(2))]
    deep.run(
        fc.FedProx(mu=0.5), torch.nn.Linear(3, 3).double(), pairs, rounds=2,
        local_solver=fc.SGD(epochs=1, stepsize=0.1), checkpoint=folder / "run.safetensors", checkpoint_every=1,
        progress=False,
    )  # fmt: skip


def swept(folder: Folder) -> Any:
    import fedconvex as fc
    from fedconvex.sweeps import Setting

    problem = fc.LeastSquares(A=[[[1, 2], [0, 1]], [[1, 0], [3, 1]]], b=[[1, 2], [3, 4]])
    fc.sweep(
        {"GD": Setting(fc.FedGD(stepsize=0.05, local_steps=2))}, {"small": problem}, (0,), rounds=2,
        out=folder / "sweep.parquet", jobs=1,
    )  # fmt: skip


def results() -> list[Kind]:
    return [
        Kind("paper/test.toml", file("paper/test.toml", EVERYTHING.encode()), experiment),
        Kind("run.toml", file("run.toml", RUN.encode()), deep_run),
        Kind("fedprox.equation3.json", proof, replayed),
        Kind("one.json", cached, from_cache),
        Kind("audit.json", audited, reported_audit),
        Kind("fedsplit.figure1/summary.json", summary, reported_summary),
        Kind("fedsplit.figure1/figure.png", pictured, reported_summary),
        Kind("fedprox_logs/curves.csv", file("fedprox_logs/curves.csv", CURVES), curves),
        Kind("float.npz", runs("float"), runs("float")),
        Kind("exact.npz", runs("exact"), runs("exact")),
        Kind("run.safetensors", trained, trained),
        Kind("sweep.parquet", swept, swept),
    ]
