"""The instruction sets that numerical libraries compute with here: floating-point sums depend on them.

Wider vectors sum in another order, so that the same run on another processor gives other last digits, and after many
rounds another trajectory. Checkpoints therefore say which instruction sets wrote them.
"""

import os
import platform
import warnings
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from fedconvex.arithmetic.processor import processor
from fedconvex.errors import InvalidInput, ResumedElsewhere, short_text

NAME = "processor"  # its model name is for messages: it alone changes no digit


def instruction_sets(device: Any = None) -> dict[str, str]:
    """For each library the instruction set that it computes with, beside the processor's name and architecture.

    The libraries choose by processor, and by environment variables such as OPENBLAS_CORETYPE.

    Args:
        device: a torch device, if the computation runs on torch.
    """
    simd = np.show_config(mode="dicts")["SIMD Extensions"]
    found = {
        NAME: processor(),
        "architecture": platform.machine(),
        "numpy": " ".join([*simd["baseline"], *simd.get("found", [])]),
        "BLAS": blas(),
        "numba": _numba(),
    }
    if device is not None:
        import torch

        found["torch"] = torch.backends.cpu.get_cpu_capability()
        found["device"] = device.type
        if device.type == "cuda":
            found["GPU"] = torch.cuda.get_device_name(device)
    return found


def require_same(argument: str, value: Any, there: Any, here: Sequence[Mapping[str, str]], exactly: bool) -> None:
    """Compares the instruction sets that computed a checkpoint with those here.

    Args:
        argument, value: the checkpoint's name and path.
        there: one entry for each kind of machine that computed some of its rounds; None if the checkpoint does not say.
        here: one entry for each kind of machine of this run.
        exactly: refuse other instruction sets; otherwise they are a warning.

    Raises:
        InvalidInput: they differ, and `exactly`; or `there` is no list of mappings of texts.

    Warns:
        ResumedElsewhere: they differ.
    """
    if there is None:
        problem = "does not record the processor that computed it"
    elif not _is_list_of_texts(there):
        cure = "delete it to start anew, or give another path"
        raise InvalidInput(argument, value, "is no checkpoint of a run, or is damaged", cure)
    elif _rounding(there) == _rounding(here):
        return
    else:
        problem = f"was computed on {_said(there, here)}, this is {_said(here, there)}"
    if exactly:
        cure = "resume on such processors, leave out `exactly`, or give another path to start anew"
        raise InvalidInput(argument, value, problem, cure)
    text = f"{argument} = {short_text(value)}: {problem}; the last digits of the resumed run may differ from those of "
    warnings.warn(f"{text}an uninterrupted one; `exactly` refuses to resume", ResumedElsewhere, stacklevel=4)


def distinct(*groups: Sequence[Mapping[str, str]]) -> list[dict[str, str]]:
    """Each of the machines once."""
    return [dict(items) for items in dict.fromkeys(tuple(sorted(sets.items())) for group in groups for sets in group)]


def _is_list_of_texts(found: Any) -> bool:
    return isinstance(found, list) and all(
        isinstance(sets, dict) and all(isinstance(text, str) for text in sets.values()) for sets in found
    )


def _rounding(machines: Sequence[Mapping[str, str]]) -> set[frozenset[tuple[str, str]]]:
    """What the last digits depend on: all but the processors' names."""
    return {frozenset((name, text) for name, text in sets.items() if name != NAME) for sets in machines}


def _said(machines: Sequence[Mapping[str, str]], others: Sequence[Mapping[str, str]]) -> str:
    """The machines by name, each with the instruction sets that not all of both lists have."""
    everyone = [*machines, *others]
    parts = []
    for sets in machines:
        names = [name for name in sets if name != NAME and any(other.get(name) != sets[name] for other in everyone)]
        parts.append(" ".join([_shown(sets.get(NAME, "?")), *(f"[{_shown(n)}: {_shown(sets[n])}]" for n in names)]))
    return " and ".join(parts)


def _shown(name: str) -> str:
    """A name out of a file, without control characters."""
    return short_text("".join(c if c.isprintable() else "?" for c in name))


def blas() -> str:
    """The libraries that NumPy and SciPy multiply matrices with, and the instruction sets of each."""
    try:
        from threadpoolctl import ThreadpoolController
    except ImportError:  # machines that only train networks may lack it
        return "unknown"
    import scipy.linalg  # noqa: F401 - its BLAS counts, whether or not this process has used it already

    libraries = ThreadpoolController().select(user_api="blas").info()
    return " ".join(sorted({f"{found['internal_api']} {found.get('architecture', '')}".strip() for found in libraries}))


def _numba() -> str:
    """The processor that numba compiles for."""
    try:
        from llvmlite.binding import get_host_cpu_name
    except ImportError:  # without numba nothing is compiled
        return "none"
    return os.environ.get("NUMBA_CPU_NAME") or str(get_host_cpu_name())
