"""The methods on deep networks: a PyTorch runner that takes the same method objects as the exact core.

`run(method, model, clients, …)` trains a model; `models` are those of the papers; `datasets` reads the usual files.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from fedconvex.deep.runner import DeepRun as DeepRun
    from fedconvex.deep.runner import run as run

IN_RUNNER = ("DeepRun", "run")


def __getattr__(name: str) -> Any:
    """Torch is loaded when it is needed: the data sets can be read without it."""
    if name in IN_RUNNER:
        try:
            return getattr(import_module(f"{__name__}.runner"), name)
        except ModuleNotFoundError as error:
            if error.name != "torch":
                raise
            from fedconvex.errors import MissingLibrary

            raise MissingLibrary("torch", f"fedconvex.deep.{name}", "deep") from None
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
