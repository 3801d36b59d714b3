"""What the facts that a proof cites say on the board of its round. A fact is granted, or `Refused`."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, final

from fedconvex.claims.claim import Claim, ClaimSetting
from fedconvex.claims.terms import Number, Vector
from fedconvex.proofs_checks.kernel import proofs
from fedconvex.proofs_checks.kernel.board import IN_MEAN, RoundBoard
from fedconvex.proofs_checks.kernel.scalars import Refused, Scalar, require
from fedconvex.proofs_checks.kernel.vectors import Quantity, Vec


@final
@dataclass(frozen=True)
class Theorem:
    """A claim that the kernel has proved of a setting."""

    setting: ClaimSetting
    claim: Claim

    def __str__(self) -> str:
        """What it claims; `str(theorem.setting)` says of what."""
        return str(self.claim)


Statements = Callable[[str], Theorem]  # a statement of this name, proved; raises Refused


@final
@dataclass(frozen=True)
class Difference:
    """difference ≥ 0, or = 0 where exact. A relation of vectors has a vector as its difference."""

    difference: Any
    exact: bool = False


Lines = Mapping[str, Difference]


def total(
    board: RoundBoard, facts: Any, squares: Any, lines: Lines, known: Statements, exact: bool = False
) -> Quantity:
    """Σ multiplier · fact + Σ weight · ‖vector‖², which is ≥ 0; with `exact`, of equations alone, = 0."""
    total = Quantity()
    for multiplier, fact in facts:
        relation = fact_of(board, fact, lines, known)
        require(type(relation.difference) is Quantity, "an equation of vectors has no multiplier")
        factor = board.number(multiplier)
        require(relation.exact or not exact, "an equation rests on an inequality")
        if not relation.exact:
            require(is_nonnegative(board, factor), f"a multiplier that may be negative, of {type(fact).__name__}")
        total = total + board.product(factor, relation.difference)
    for weight, vector in squares:
        require(not exact, "an equation rests on a square")
        factor, u = board.number(weight), board.vector(vector)
        require(is_nonnegative(board, factor), "a weight of a square that may be negative")
        total = total + board.product(factor, board.inner(u, u))
    return total


def is_nonnegative(board: RoundBoard, of: Quantity) -> bool:
    """Whether it is a polynomial in lengths whose coefficients are ≥ 0."""
    return all(all(x[0] in ("‖", IN_MEAN) for x in m) and board.field.is_nonnegative(c) for m, c in of.terms.items())


def fact_of(board: RoundBoard, fact: Any, lines: Lines, known: Statements) -> Difference:
    """What the fact says, if it is granted here. Raises Refused."""
    match fact:
        case proofs.Lower(b, a, least):
            return Difference(_above_quadratic(board, b, a, 0, least))
        case proofs.Upper(b, a, most):
            return Difference(_above_quadratic(board, b, a, 1, most) * -1)
        case proofs.Between():
            return _between(board, fact)
        case proofs.Hypothesis(what):
            return _assumed(board, what)
        case proofs.CauchySchwarz(u, v, sign):
            require(sign in (1, -1), f"{sign} is no sign")
            x, y = board.vector(u), board.vector(v)
            return Difference(board.product(board.length(x), board.length(y)) - board.inner(x, y) * sign)
        case proofs.Triangle(u, v, times):
            x, y = board.vector(u), board.vector(v)
            longer = board.length_in_draw(x) + board.length_in_draw(y) - board.length_in_draw(x + y)
            return Difference(board.averaged(board.product(longer, board.length_in_draw(board.vector(times)))))
        case proofs.MeanLength(u):
            x = board.vector(u)
            return Difference(board.length(x) - board.averaged(board.length_in_draw(x)))
        case proofs.Infimum(at):
            point = board.vector(at)
            require(point.is_shared and not board.round.one_client, "the objective's value at points of the clients")
            return Difference(board.value(point) - board.infimum)
        case proofs.ClientInfima(at):
            gap = board.setting.objective_gap
            require(gap is not None and not board.round.one_client, "no gap of the objective is assumed")
            lowest = board.value(board.round.minimiser) if board.setting.minimiser else board.infimum
            return Difference(board.value(board.vector(at)) - lowest + board.constant(board.parameters.value(gap)))
        case proofs.Similar():
            return _similar(board, fact)
        case proofs.Idle(u):
            return Difference(board.idle_square(board.vector(u)))
        case proofs.Nonnegative(of):
            found = board.number(of)
            require(is_nonnegative(board, found), "a number that may be negative")
            return Difference(found)
        case proofs.Earlier(line):
            require(line in lines, f"no earlier line {line}")
            return lines[line]
        case proofs.Product(line, other):
            require(line in lines and other in lines, f"no earlier line {line if line not in lines else other}")
            both = (lines[line].difference, lines[other].difference)
            require(all(type(of) is Quantity for of in both), "the product of an equation of vectors")
            return Difference(board.product(*both))
        case proofs.BernoulliPower(ratio, order):
            return Difference(board.constant(board.parameters.bernoulli(ratio, order)))
        case proofs.Proved(identifier):
            return _of_statement(board, identifier, known)
    raise Refused(f"{fact!r} is no fact")


def _curvature(board: RoundBoard, end: int, given: Number | None, *points: Vec) -> Scalar:
    """The least (0) or largest (1) curvature that holds at these points: of all clients, else of the objective.

    A given bound must be weaker than the setting's, which may be a maximum of several: each of them holds.
    """
    of_clients, of_objective = board.setting.curvature[end], board.setting.objective[end]
    if of_clients is None:
        require(of_objective is not None, f"no {'largest' if end else 'least'} curvature is assumed")
        # The objective's gradient is the mean of the clients', and inner products with shared vectors see only that.
        require(
            all(p.is_shared for p in points) and not board.round.one_client, "the objective's class, at clients' points"
        )
    known = of_objective if of_clients is None else of_clients
    assert known is not None
    if given is None:
        return board.parameters.value(known)
    assert known is not None
    require(_is_tighter(board, end, known, given), "a curvature that is not assumed")
    return board.parameters.value(given)


def _is_tighter(board: RoundBoard, end: int, here: Number, there: Number) -> bool:
    """Whether a least (0) or largest (1) curvature is shown to imply another one."""
    sign = -1 if end else 1
    if end == 0 and there.head == "max":
        return all(_is_tighter(board, end, here, one) for one in there.args)
    if end == 0 and here.head == "max":
        return any(_is_tighter(board, end, one, there) for one in here.args)
    return board.field.is_nonnegative((board.parameters.value(here) - board.parameters.value(there)) * sign)


def _above_quadratic(board: RoundBoard, to: Vector, at: Vector, end: int, given: Number | None) -> Quantity:
    """F(b) − F(a) − ⟨∇F(a), b − a⟩ − (c/2)‖b − a‖²."""
    b, a = board.vector(to), board.vector(at)
    c = _curvature(board, end, given, a, b)
    tangent = board.inner(board.round.gradient(a), b - a)
    return board.value(b) - board.value(a) - tangent - board.inner(b - a, b - a) * (c / 2)


def _between(board: RoundBoard, fact: proofs.Between) -> Difference:
    b, a = board.vector(fact.b), board.vector(fact.a)
    least, most = _curvature(board, 0, fact.least), _curvature(board, 1, fact.most)
    # Without both bounds of the clients, only the objective's gradient is of the class.
    gradient = board.round.objective_gradient if None in board.setting.curvature else board.round.gradient
    g, d = gradient(b) - gradient(a), b - a
    return Difference(board.inner(g - d * least, d * most - g))


def _similar(board: RoundBoard, fact: proofs.Similar) -> Difference:
    delta, b, a = board.setting.similarity, board.vector(fact.b), board.vector(fact.a)
    require(delta is not None, "no similarity of the clients is assumed")
    at_b, at_a = (board.round.gradient(x) - board.round.objective_gradient(x) for x in (b, a))
    bound = board.parameters.value(delta) ** 2
    return Difference(board.inner(b - a, b - a) * bound - board.inner(at_b - at_a, at_b - at_a))


def _assumed(board: RoundBoard, what: str) -> Difference:
    """The setting's assumption of this name."""
    setting, server = board.setting, board.round.first.server
    if what in ("inexactness", "error"):
        _ = board.round.answers
        require(setting.answers == {"inexactness": "inexact", "error": "error"}[what], f"no {what} is assumed")
        bound = board.parameters.value(setting.inexactness) ** 2
        if what == "error":
            e = board.round.of_clients("e")
            return Difference(board.constant(bound) - board.inner(e, e))
        left, first = board.round.inexact[0]
        return Difference(board.inner(first, first) * bound - board.inner(left, left))
    if what == "scale":
        require(setting.draws.scheme == "uniform", "clients are not drawn without replacement")
        active, clients = (board.parameters.value(x) for x in (setting.draws.active, setting.draws.clients))
        # σ is any number where m = 1, since nothing varies: there it is 0.
        others = board.field.scalar(1) if board.field.is_nonnegative(1 - clients) else clients - 1
        return Difference(
            board.constant(board.parameters.chances["σ"] * active * others - clients + active), exact=True
        )
    if what == "initial gap" and setting.initial_gap is not None:
        require(board.round.at_start, "the initial gap is that of a run's start")
        return Difference(
            board.constant(board.parameters.value(setting.initial_gap)) - board.value(server) + board.infimum
        )
    g = board.round.gradient(server)
    mean = board.round.mean(g)
    square = board.inner(mean, mean)
    if what == "dissimilarity" and setting.dissimilarity is not None:
        return Difference(square * board.parameters.value(setting.dissimilarity) ** 2 - board.inner(g, g))
    if what == "variance" and setting.variance is not None:
        return Difference(board.constant(board.parameters.value(setting.variance)) - board.inner(g - mean, g - mean))
    if what == "large gradient" and setting.large_gradient is not None:
        return Difference(square - board.constant(board.parameters.value(setting.large_gradient)))
    raise Refused(f"{what} is not assumed")


def _of_statement(board: RoundBoard, identifier: str, known: Statements) -> Difference:
    """The claim of a proved statement, read on this board."""
    other = known(identifier)
    require(
        not other.claim.of_run and other.claim.of_client == board.round.one_client, f"{identifier} is of another kind"
    )
    _require_weaker(board, other.setting, identifier)
    left, right = other.claim.left, other.claim.right
    if type(left) is Vector:
        return Difference(board.vector(right) - board.vector(left), exact=True)
    return Difference(board.number(right) - board.number(left), exact=other.claim.relation == "=")


def _require_weaker(board: RoundBoard, other: ClaimSetting, identifier: str) -> None:
    """The other setting assumes nothing that this one does not."""
    mine, problem = board.setting, f"{identifier} assumes something else"
    # A state at rest need not be one that a run reaches, of which the other statement may know invariants.
    for name in ("method", "method_parameters", "answers", "inexactness", "gradient_steps", "draws", "rests"):
        require(getattr(mine, name) == getattr(other, name), f"{problem}: its {name}")
    for name in ("dissimilarity", "variance", "large_gradient", "initial_gap", "objective_gap", "similarity"):
        require(getattr(other, name) in (None, getattr(mine, name)), f"{problem}: its {name}")
    for name in ("minimiser", "bounded_below", "starts_at_own_minima", "single_client", "first_round",
                 "equal_weights"):  # fmt: skip
        require(getattr(mine, name) or not getattr(other, name), f"{problem}: its {name}")
    for name in ("curvature", "objective"):
        for end in (0, 1):  # the other's least curvature must be smaller, its largest one larger
            here, there = getattr(mine, name)[end], getattr(other, name)[end]
            if there is not None:
                require(here is not None and _is_tighter(board, end, here, there), f"{problem}: its {name}")
    ranks = ("real", "nonnegative", "positive")
    for name, rank in other.signs.items():
        require(ranks.index(mine.signs.get(name, "real")) >= ranks.index(rank), f"{problem}: the sign of {name}")
    require(other.counts <= mine.counts, f"{problem}: its integers")
    for left, relation, right in other.conditions:
        gap = board.parameters.value(left) - board.parameters.value(right)
        holds = board.field.is_positive(gap) if relation == ">" else board.field.is_nonnegative(gap)
        require(
            holds and (relation != "=" or board.field.is_nonnegative(-gap)), f"{problem}: a condition on parameters"
        )


def no_statements(identifier: str) -> Any:
    """No statement is known."""
    raise Refused(f"no statement {identifier} is known")


def relation_of(board: RoundBoard, fact: Any) -> Quantity:
    """What a fact says is ≥ 0, for whoever searches for proofs. Raises Refused where the board does not grant it."""
    found = fact_of(board, fact, {}, no_statements).difference
    require(type(found) is Quantity, "an equation of vectors")
    assert isinstance(found, Quantity)
    return found
