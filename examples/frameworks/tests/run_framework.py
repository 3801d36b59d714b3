"""What the kit finds in one framework's own classes, as JSON.

Runs in the framework's environment, with the folder of the adapters on its path:
`PYTHONPATH=examples/frameworks python examples/frameworks/tests/run_framework.py fedlab ANSWER.json`.
"""

import importlib
import importlib.metadata
import inspect
import json
import sys
import types
from contextlib import suppress
from fractions import Fraction
from pathlib import Path
from typing import Any
from unittest.mock import MagicMock

PACKAGES = {
    "flower": "flwr",
    "pfl": "pfl",
    "fedlab": "fedlab",
    "fluke": "fluke-fl",
    "nvflare": "nvflare",
    "fedml": "fedml",
}


def without_torchvision() -> None:
    """Five of them import torchvision for images, which are not used here; its builds may not fit this torch."""
    try:
        import torchvision  # noqa: F401 - whether it can be imported is all that counts
    except (ImportError, RuntimeError, OSError):
        with suppress(ImportError):
            import torchmetrics  # noqa: F401 - it leaves out what needs torchvision, where that is missing
        for name in ("", ".transforms", ".datasets", ".models", ".io", ".io.image"):
            sys.modules[f"torchvision{name}"] = Unused(f"torchvision{name}")
        vision: Any = sys.modules["torchvision"]
        for part in ("transforms", "datasets", "models", "io"):
            setattr(vision, part, sys.modules[f"torchvision.{part}"])
        vision.datasets.CIFAR10 = object  # a base class


class Unused(types.ModuleType):
    """A module whose names can be imported, and are not used."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return MagicMock()


def main(framework: str, answer: Path) -> None:
    """Check every method that the framework ships, as it is and with its faults repaired_frameworks."""
    if framework in ("fedlab", "fluke", "fedml", "flbench", "fedadmm"):
        without_torchvision()
    import repaired_frameworks

    import fedconvex as fc
    from fedconvex.conformance import check

    adapter = importlib.import_module(f"{framework}_adapter")
    work = {"stepsize": Fraction(1, 16), "local_steps": 3}
    steps = fc.GradientDescent(steps=3, stepsize=Fraction(1, 16))
    methods = {
        "FedAvg": (fc.FedGD(**work), None),
        "FedProx": (fc.FedProx(mu=Fraction(3, 2)), steps),
        "SCAFFOLD": (fc.Scaffold(**work), None),
        "SCAFFOLD, option I": (fc.Scaffold(**work, option=1), None),
        "FedNova": (fc.FedNova(**work), None),
        "FedDyn": (fc.FedDyn(alpha=Fraction(3, 2)), steps),
        "FedAvgM": (fc.FedAvgM(**work), None),
        "FedAdam": (fc.FedAdam(**work, initial=0), None),
        "FedYogi": (fc.FedYogi(**work, initial=0), None),
        "FedAdagrad": (fc.FedAdagrad(**work, initial=0), None),
        "FedADMM": (fc.FedADMM(rho=1, server_stepsize=1), steps),
    }
    found: dict[str, Any] = {}
    documented = None

    def look(name: str, method: str, weights: str | None = None, **options: Any) -> None:
        chosen, solver = methods[method]
        record(name, check(chosen, **adapter.wrap(chosen, solver, **options), local_solver=solver, weights=weights))

    def record(name: str, report: Any) -> None:
        found[name] = {
            "passed": report.passed,
            "verdict": report.verdict,
            "diagnosis": [finding.name for finding in report.diagnosis],
            "report": report.report(),
        }

    if framework == "flower":
        from flwr.serverapp.strategy import FedProx

        look("FedAvg", "FedAvg")
        look("FedProx, the documented client", "FedProx")
        look("FedProx, the documented client with a list", "FedProx", proximal_term="norms")
        look("FedProx, the documented formula", "FedProx", proximal_term="squared")
        documented = inspect.getdoc(FedProx)
        import flower_server_optimizers as optimizers

        for method in (fc.FedAvgM(**work), fc.FedAdagrad(**work, beta1=0, initial=0), fc.FedYogi(**work, initial=0)):
            record(type(method).__name__, check(method, **optimizers.wrap(method)))
        adam = fc.FedAdam(**work, initial=0)
        record("FedAdam", check(adam, **optimizers.wrap(adam)))
        record("FedAdam, late rounds", check(adam, **optimizers.wrap(adam, optimizers.LATE)))
    elif framework == "pfl":
        for method in ("FedAvg", "FedProx", "SCAFFOLD", "SCAFFOLD, option I"):
            look(method, method)
        with repaired_frameworks.pfl_storage_copies():
            look("SCAFFOLD, option I, stored copies", "SCAFFOLD, option I")
        with repaired_frameworks.pfl_sign():
            look("SCAFFOLD, mended", "SCAFFOLD")
            look("SCAFFOLD, option I, sign mended", "SCAFFOLD, option I")
        with repaired_frameworks.pfl_sign(), repaired_frameworks.pfl_storage_copies():
            look("SCAFFOLD, option I, mended", "SCAFFOLD, option I")
    elif framework in ("pfllib", "fluke"):
        for method in ("FedAvg", "FedProx", "SCAFFOLD", "FedDyn", *(["FedNova"] if framework == "fluke" else [])):
            look(method, method)
        if framework == "pfllib":
            with repaired_frameworks.pfllib_norm():
                look("FedDyn, mended", "FedDyn")
    elif framework == "nvflare":
        for method in ("FedAvg", "FedProx", "FedAvgM", "SCAFFOLD"):
            look(method, method)
        with repaired_frameworks.nvflare_control_variate():
            look("SCAFFOLD, mended", "SCAFFOLD")
    elif framework == "fedml":
        for method in ("FedAvg", "FedProx", "FedNova", "SCAFFOLD", "FedDyn"):
            look(method, method)
        with repaired_frameworks.fedml_copies():
            for method in ("FedAvg", "FedProx", "SCAFFOLD", "FedDyn"):
                look(f"{method}, first model copied", method)
    elif framework == "flbench":
        for method in ("FedAvg", "FedProx", "FedAvgM", "FedAdam", "FedYogi", "FedAdagrad"):
            look(method, method)
        for method in ("SCAFFOLD", "FedADMM", "FedDyn"):
            look(method, method)
        with repaired_frameworks.flbench_control_variates():
            look("SCAFFOLD, mended", "SCAFFOLD")
    elif framework == "fedadmm":
        look("FedADMM", "FedADMM")
        with repaired_frameworks.fedadmm_changes():
            look("FedADMM, mended", "FedADMM")
    else:
        for method in ("FedAvg", "FedProx"):
            look(method, method)
            look(f"{method}, equal weights", method, weights="equal")
        for option in ("weighted_scale", "uniform", "weighted_com"):
            look(f"FedNova, {option}, equal weights", "FedNova", weights="equal", option=option)
        look("SCAFFOLD", "SCAFFOLD")
        look("FedDyn", "FedDyn")
        with repaired_frameworks.fedlab_regulariser():
            look("FedDyn, regulariser mended", "FedDyn")
        with repaired_frameworks.fedlab_server_memory():
            look("FedDyn, server memory mended", "FedDyn")
        with repaired_frameworks.fedlab_regulariser(), repaired_frameworks.fedlab_server_memory():
            look("FedDyn, mended", "FedDyn")
    # PFLlib has no version: whoever names its environment says by that which commit it is
    version = importlib.metadata.version(PACKAGES[framework]) if framework in PACKAGES else adapter.TESTED
    answer.write_text(json.dumps({"version": version, "documented": documented, "found": found}), "utf-8")


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]))
