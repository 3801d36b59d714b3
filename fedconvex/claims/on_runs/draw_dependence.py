"""Which terms of a claim depend on the draw, and which are means over it."""

from typing import final

from fedconvex.claims.terms import Number, Term, Vector


def is_expectation(term: Term) -> bool:
    """Whether the term is a mean over the draws."""
    return term.head in ("expected", "after", "sum of rounds") or (
        term.head == "mean of rounds" and type(term) is Number
    )


@final
class DrawDependence:
    """Whether a term of a claim, outside of expectations, is another one for another draw; found once for each term."""

    def __init__(self, of_run: bool) -> None:
        self._of_run = of_run
        self._known: dict[int, bool] = {}  # by identity: comparing trees would cost more than evaluating them

    def __call__(self, term: Term) -> bool:
        if id(term) not in self._known:
            self._known[id(term)] = self._find(term)
        return self._known[id(term)]

    def _find(self, term: Term) -> bool:
        if is_expectation(term):
            return False
        if term.head in ("drawn", "next round") or (term.head == "mean of rounds" and self._of_run):
            return True
        if term.head in ("server", "shared", "memory", "last answers"):
            return bool(term.args[-1] == 1)
        return any(self(a) for a in term.args if type(a) in (Vector, Number))
