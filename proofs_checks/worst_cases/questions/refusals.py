"""The refusal of terms that a performance-estimation program cannot contain, with the term as a line of text."""

from fedconvex.claims.terms import Number, Term, Vector, parts
from fedconvex.errors import InvalidInput


class NotPosed(InvalidInput):
    """A term that a performance-estimation program cannot contain; the message names it and says what can."""

    def __str__(self) -> str:
        # Terms become text only here: some refusals are caught, and the question is posed in another way.
        if isinstance(self.value, Vector | Number):
            return str(InvalidInput(self.argument, written(self.value), self.problem, self.cure))
        return super().__str__()


def written(term: Term) -> str:
    """The term as one line of text."""
    from fedconvex.claims.display.letters import Display

    return Display.standard(p.args[0] for p in parts(term) if p.head == "parameter").text(term)
