"""What a proof may rest on: points of the round, and the inequalities between them that the board grants."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, final

from fedconvex.claims.claim import Claim, ClaimSetting
from fedconvex.claims.terms import (
    Number,
    Vector,
    answers,
    expected,
    gradient,
    last_answers,
    mean,
    memory,
    minimiser,
    number,
    parts,
    server,
    solutions,
)
from fedconvex.proofs_checks.kernel.board import RoundBoard
from fedconvex.proofs_checks.kernel.facts import relation_of
from fedconvex.proofs_checks.kernel.parameters import SettingParameters
from fedconvex.proofs_checks.kernel.proofs import Between, Hypothesis, Lower, Upper
from fedconvex.proofs_checks.kernel.replay import check_invariants
from fedconvex.proofs_checks.kernel.scalars import Refused
from fedconvex.proofs_checks.kernel.vectors import Quantity
from fedconvex.proofs_checks.library import Parts, by, interpolation, squared

Invariants = tuple[tuple[str, Vector], ...]
MOST_POINTS = 7
LAST = (last_answers(0), last_answers(1))
ASSUMPTIONS = ("inexactness", "error", "dissimilarity", "variance", "large gradient")


@final
@dataclass(frozen=True)
class Candidate:
    """An inequality as the kernel's facts, its name, and its meaning on the board: a quantity ≥ 0."""

    name: str
    parts: Parts
    quantity: Quantity


def claimed_terms(claim: Claim) -> list[Any]:
    """All terms in a claim."""
    return [p for side in (claim.left, claim.right) for p in parts(side)]


def board_of(setting: ClaimSetting, claim: Claim, invariants: Invariants = ()) -> RoundBoard:
    """A board like that on which the kernel will replay the proof."""
    terms = [claim.left, claim.right, *(term for _, term in invariants)]
    return RoundBoard(SettingParameters(setting, terms, claim.rounds), invariants, one_client=claim.of_client)


def invariants_of(setting: ClaimSetting, claim: Claim) -> Invariants:
    """The guesses that hold of those tried.

    A vector of the clients is the gradient at their last answers, one of the server the mean of one of the clients'.
    """
    if not setting.method or claim.of_client:
        return ()
    try:
        state = RoundBoard(SettingParameters(setting, (claim.left, claim.right))).round.first
    except (Refused, ValueError, ArithmeticError):
        return ()
    guesses = [(f"memory {name}", gradient(last_answers(0))) for name in state.memory]
    guesses += [(f"shared {name}", mean(memory(of_clients, 0))) for name in state.shared for of_clients in state.memory]
    found: Invariants = ()
    for guess in guesses:
        if all(known[0] != guess[0] for known in found) and _holds(setting, claim, (*found, guess)):
            found += (guess,)
    return found


def _holds(setting: ClaimSetting, claim: Claim, guesses: Invariants) -> bool:
    try:
        check_invariants(board_of(setting, claim, guesses), guesses)
    except (Refused, ValueError, ArithmeticError):
        return False
    return True


def points_of(board: RoundBoard, claim: Claim) -> list[Vector]:
    """The points at which the functions may be compared, each once: those of the claim, then those of the round."""
    used = claimed_terms(claim)
    named = [t.args[0] for t in used if t.head in ("value", "gradient")]
    named += [t for t in used if type(t) is Vector and t.head in ("server", "answers", "solutions", "minimiser")]
    named += [t for t in used if type(t) is Vector and t.head in ("free", "family", "last answers")]
    usual = [minimiser, server(0), answers, solutions, mean(answers), server(1)]
    return list(_different(board, [*named, *usual]))[:MOST_POINTS]


def _different(board: RoundBoard, points: Iterable[Vector]) -> Iterator[Vector]:
    seen = set()
    for point in points:
        try:
            key = board.vector(point).key
        except (Refused, ValueError, ArithmeticError):
            continue
        if key not in seen:
            seen.add(key)
            yield point


def candidates(board: RoundBoard, points: Iterable[Vector]) -> list[Candidate]:
    """The inequalities of the class between all pairs of points, and the setting's assumptions."""
    found = [candidate(board, what, by(Hypothesis(what))) for what in ASSUMPTIONS]
    found += [candidate(board, "spread", squared(change)) for change in _spreads(board)]
    least, most = bounds(board.setting, 0), bounds(board.setting, 1)
    listed = list(points)
    for a in listed:
        for b in listed:
            if a is not b:
                found += [candidate(board, name, made) for name, made in _of_pair(b, a, least, most)]
    unique: dict[Any, Candidate] = {}
    for one in found:
        if one is not None and one.quantity.terms:
            unique.setdefault(frozenset(one.quantity.terms.items()), one)
    return list(unique.values())


def _spreads(board: RoundBoard) -> Iterator[Vector]:
    """What the drawn clients' memories change by, beyond the mean change and the expected one."""
    if board.setting.draws.scheme == "uniform" and board.setting.method:
        for before, after in [*((memory(n, 0), memory(n, 1)) for n in board.round.first.memory), LAST]:
            change = after - before
            yield change - mean(change) - expected(change) + mean(expected(change))


def bounds(setting: ClaimSetting, end: int) -> list[Number]:
    """The least (0) or largest (1) curvature of the clients, else of the objective; of a maximum each part."""
    of_clients, of_objective = setting.curvature[end], setting.objective[end]
    found = of_objective if of_clients is None else of_clients
    return [] if found is None else list(_parts_of_maximum(found))


def _parts_of_maximum(of: Number) -> Iterator[Number]:
    if of.head == "max":
        for part in of.args:
            yield from _parts_of_maximum(part)
    else:
        yield of


def _of_pair(b: Vector, a: Vector, least: Sequence[Number], most: Sequence[Number]) -> Iterator[tuple[str, Parts]]:
    for low in least:
        yield "lower", by(Lower(b, a, low))
    for high in most:
        yield "upper", by(Upper(b, a, high))
        for low in least:
            yield "interpolation", interpolation(b, a, low, high)
            yield "between", by(Between(b, a, low, high))
        if least and number(0) not in least:
            yield "between", by(Between(b, a, -high, high))


def candidate(board: RoundBoard, name: str, made: Parts) -> Candidate | None:
    """The candidate; None where the board does not grant it."""
    try:
        total = Quantity()
        for multiplier, fact in made.facts:
            total = total + relation_of(board, fact) * board.parameters.value(multiplier)
        for weight, vector in made.squares:
            u = board.vector(vector)
            total = total + board.inner(u, u) * board.parameters.value(weight)
    except (Refused, ValueError, ArithmeticError):
        return None
    return Candidate(name, made, total)
