"""What the papers assert in running text: a module for each paper, with its sentences in the paper's order.

`sentences()` returns them all, `sentences("fedsplit")` those of one paper. `fedconvex.proofs_checks.sentences` decides
which of them hold.
"""

from importlib import import_module

from fedconvex.discovery import modules_that_bind
from fedconvex.errors import InvalidInput
from fedconvex.statements.sentences import Sentence


def sentences(*papers: str) -> tuple[Sentence, ...]:
    """The sentences of these papers; without names, of every paper. Raises InvalidInput for an unknown paper."""
    known = modules_that_bind(__name__, "SENTENCES")
    for name in papers:
        if name not in known:
            raise InvalidInput("paper", name, "has no sentences here", f"name one of {', '.join(known)}")
    return tuple(one for name in papers or known for one in import_module(f"{__name__}.{name}").SENTENCES)
