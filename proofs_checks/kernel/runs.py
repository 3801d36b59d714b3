"""Claims about T rounds: inequalities of one round, which hold in every round that a run reaches, added up.

An unknown number of a run is an unknown of one round, marked with where it is taken: at the start, at the end (in
expectation after T rounds), or summed over the rounds with weights r^t. What does not change from round to round, such
as ‖∇F_k(x*)‖², has no mark.
"""

from collections.abc import Callable, Mapping
from typing import Any, final

from fedconvex.claims.terms import Number, Vector, parameter, parts
from fedconvex.proofs_checks.kernel import proofs
from fedconvex.proofs_checks.kernel.board import RoundBoard
from fedconvex.proofs_checks.kernel.formulas import after_round, has_parameter, is_of_parameters
from fedconvex.proofs_checks.kernel.proofs import ROUND, ZERO
from fedconvex.proofs_checks.kernel.scalars import Refused, require
from fedconvex.proofs_checks.kernel.vectors import Monomial, Quantity, Unknown, Vec

MARKS = {"start": "0:", "end": "T:"}
OF_RUN = ("after", "sum of rounds", "mean of rounds")

Sum = Callable[[RoundBoard, Any, Any], Quantity]  # of facts and squares, on a board of one round


@final
class RunBoard:
    """T rounds from the method's own start: boards for the first round, for any, and for the state after the last."""

    def __init__(self, any_round: RoundBoard, total: Sum):
        self.board, self.total = any_round, total
        self.start, self.end = any_round.at_its_start(), any_round.after_the_last()
        self.parameters, self.field = any_round.parameters, any_round.field

    def marked(self, of: Quantity, when: str, ratio: Any = 1) -> Quantity:
        """The quantity of one round at the start, at the end, or summed over the rounds."""
        if when in MARKS:
            mark, constants = MARKS[when], self.field.scalar(1)
        else:
            ratio = self.field.scalar(ratio)
            require(self.field.is_nonnegative(ratio), "weights of rounds that may be negative")
            mark, constants = f"Σ{self.parameters.powers.number(ratio)}:", self.parameters.powers.sum(ratio)
        terms: dict[Monomial, Any] = {}
        for m, c in of.terms.items():
            fixed = all(map(is_same_always, m))
            key = m if fixed else ((mark, str(m)),)
            terms[key] = terms.get(key, 0) + (c * constants if fixed else c)
        return Quantity(terms)

    def number(self, term: Number, expected: bool = False) -> Quantity:
        """The number that the term means in the run, inside an expectation or outside. Raises Refused."""
        if not any(part.head in OF_RUN for part in parts(term)):
            return self.marked(self.start.number(term), "start")
        match term.head, term.args:
            case "named", (_, x):
                return self.number(x, expected)
            case "expected", (x,):
                return self.number(x, expected=True)
            case "after", (x,):
                return self.marked(self._in_round(x), "end")
            case "sum of rounds", (r, x):
                return self.marked(self._in_round(x), "rounds", self.parameters.value(r))
            case "mean of rounds", (r, x):
                ratio = self.parameters.value(r)
                return self.marked(self._in_round(x), "rounds", ratio) * (1 / self.parameters.powers.sum(ratio))
            case "value", (Vector() as u,):
                known = expected or self.board.setting.draws.scheme == "everyone"
                require(known, "a value that depends on the draws, outside an expectation")
                return self.value_at_mean(*mean_of_rounds(u))
            case ("+" | "-") as sign, (x, y):
                return self.number(x, expected) + self.number(y, expected) * (1 if sign == "+" else -1)
            case "neg", (x,):
                return self.number(x, expected) * -1
            case "*", (x, y):
                x, y = (x, y) if not any(part.head in OF_RUN for part in parts(x)) else (y, x)
                return self.number(y, expected) * self.parameters.value(x)
            case "/", (x, y):
                return self.number(x, expected) * (1 / self.parameters.value(y))
        raise Refused(f"{term.head} has no meaning in a run")

    def _in_round(self, term: Number) -> Quantity:
        """The expectation of a number of any round."""
        # It is over all draws so far, one inside over those of the round alone: (E x⁺)² is not E of x² one round later.
        require(_is_linear_in_expectations(term), "an expectation inside that of any round")
        return self.board.number(Number("expected", (term,)))

    def value_at_mean(self, ratio: Number, u: Vector) -> Quantity:
        """The expected value at the mean of a vector over the rounds."""
        r = self.parameters.powers.number(self.parameters.value(ratio))
        point = self.board.name_of_value(self.board.vector(u))
        return Quantity({((f"mean {r}", str(point)),): self.field.scalar(1)})

    # ---- facts and lines

    def fact(self, fact: Any, lines: Mapping[str, Any]) -> tuple[Quantity, bool]:
        """What the fact says is ≥ 0, or = 0."""
        match fact:
            case proofs.During(when, facts, squares, ratio):
                require(when in ("start", "end", "rounds"), f"{when} is no time of a run")
                board = {"start": self.start, "end": self.end, "rounds": self.board}[when]
                return self.marked(self.total(board, facts, squares), when, self.parameters.value(ratio)), False
            case proofs.Jensen(u, ratio):
                return self._jensen(u, ratio), False
            case proofs.Earlier(line):
                require(line in lines, f"no earlier line {line}")
                return lines[line].difference, lines[line].exact
            case proofs.Nonnegative(of):
                value = self.parameters.value(of)
                require(self.field.is_nonnegative(value), "a number that may be negative")
                return self.board.constant(value), False
        raise Refused(f"{type(fact).__name__} is no fact about a run")

    def _jensen(self, u: Vector, ratio: Number) -> Quantity:
        at: Vec = self.board.vector(u)
        require(not at.is_random, "a vector that depends on the draw of its round")
        self.board.require_convex(at)
        mean = Number("mean of rounds", (ratio, Number("value", (u,))))
        return self.number(mean) - self.value_at_mean(ratio, u)

    def telescoped(self, line: proofs.Telescope) -> Quantity:
        """V_0 + eΣr^t − r^T V_T − Σ r^t G_t, once the inequality of one round is shown."""
        ratio, error = self.parameters.value(line.ratio), self.parameters.value(line.error)
        self._require_same_in_all_rounds(line.gain, line.ratio, line.error)
        gain = self._in_round(line.gain)
        begun, before, after, ended = self._potential(line.potential)
        self._require_one_round(before + self.board.constant(error) - after * ratio - gain, line)
        ended = ended * self.parameters.powers.power(ratio)
        return begun + self.marked(self.board.constant(error) - gain, "rounds", ratio) - ended

    def iterated(self, line: proofs.Iterate) -> Quantity:
        """q^T V_0 + eΣq^t − V_T, once the inequality of one round is shown."""
        ratio, error = self.parameters.value(line.ratio), self.parameters.value(line.error)
        require(self.field.is_nonnegative(ratio), "a factor that may be negative")
        self._require_same_in_all_rounds(line.ratio, line.error)
        begun, before, after, ended = self._potential(line.potential)
        self._require_one_round(before * ratio + self.board.constant(error) - after, line)
        begun = begun * self.parameters.powers.power(ratio)
        return begun + self.marked(self.board.constant(error), "rounds", ratio) - ended

    def _potential(self, term: Number) -> tuple[Quantity, Quantity, Quantity, Quantity]:
        """The potential at the start, before any round, after it, and after the last round."""
        before = parameter(ROUND)
        later = after_round(term).put(before, before + 1)
        begun = self.start.number(term.put(before, ZERO))
        ended = self._in_round(term.put(before, parameter(self.parameters.powers.count)))
        return self.marked(begun, "start"), self._in_round(term), self._in_round(later), self.marked(ended, "end")

    def _require_same_in_all_rounds(self, *terms: Number) -> None:
        """What is added up over the rounds has no other value in each."""
        require(not any(has_parameter(term, ROUND) for term in terms), "what is added up changes from round to round")

    def _require_one_round(self, difference: Quantity, line: Any) -> None:
        rest = difference - self.total(self.board, line.facts, line.squares)
        require(not rest.terms, "the sum of the facts is not the inequality of one round")


def _is_linear_in_expectations(term: Number) -> bool:
    """Whether expectations are only added up with weights, so that they change nothing inside another one."""
    match term.head, term.args:
        case (("+" | "-"), (x, y)):
            return _is_linear_in_expectations(x) and _is_linear_in_expectations(y)
        case ("named", (_, x)) | (("neg" | "expected"), (x,)) | ("/", (x, _)):
            return _is_linear_in_expectations(x)
        case "*", (x, y) if is_of_parameters(x) or is_of_parameters(y):
            return _is_linear_in_expectations(x) and _is_linear_in_expectations(y)
    return all(part.head != "expected" for part in parts(term))


def is_same_always(unknown: Unknown) -> bool:
    """Whether the number is that of the minimiser, of gradients there, or of any given vectors: alike in all rounds."""
    if unknown[0] == "F":
        return unknown[1] in ("*", "infimum")
    return all(name in ("x*", "g*") or name.startswith(("free ", "family ")) for name in unknown[1:])


def mean_of_rounds(u: Vector) -> tuple[Number, Vector]:
    """The weights' ratio and the vector of a mean over rounds."""
    while u.head == "named":
        u = u.args[1]
    require(u.head == "mean of rounds", f"a value at {u.head}, which is not one time's, in a run")
    ratio, inside = u.args
    return ratio, inside
