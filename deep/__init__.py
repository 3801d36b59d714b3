"""Federated training of PyTorch models, with the same method objects as the rest of the package.

`run(method, model, clients, …)` trains a model and measures the constants of the theorems; `models` are those of the
papers' experiments; `datasets` reads the files of the usual data sets; `loggers` write records elsewhere.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from fedconvex.names import unknown_attribute

if TYPE_CHECKING:
    from fedconvex.deep.runner import DeepRun as DeepRun
    from fedconvex.deep.runner import run as run

IN_RUNNER = ("DeepRun", "run")
PACKAGES = ("datasets", "loggers", "models")


def __getattr__(name: str) -> Any:
    """Import `run` and `DeepRun` on first use, because they load torch; the data sets can be read without it."""
    if name in IN_RUNNER:
        try:
            return getattr(import_module(f"{__name__}.runner"), name)
        except ModuleNotFoundError as error:
            if error.name != "torch":  # another missing module is a fault of the installation, not a missing extra
                raise
            from fedconvex.errors import MissingLibrary

            raise MissingLibrary("torch", f"fedconvex.deep.{name}", "deep") from None
    if name in PACKAGES:
        return import_module(f"{__name__}.{name}")
    raise unknown_attribute(__name__, name, (*IN_RUNNER, *PACKAGES))
