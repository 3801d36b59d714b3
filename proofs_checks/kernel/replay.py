"""The replay of a proof on a board that the kernel makes itself from the setting. Only this decides what is proved.

`theorem` returns a `Theorem` or raises `Refused`, which names the line and the reason. A caller holds nothing that the
kernel believes: settings, claims and proofs are trees of plain data, which are read and never called.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, final

from fedconvex.claims.claim import Claim, ClaimSetting
from fedconvex.claims.terms import Number, Vector, parts
from fedconvex.proofs_checks.kernel import proofs
from fedconvex.proofs_checks.kernel.board import IN_MEAN, RoundBoard
from fedconvex.proofs_checks.kernel.formulas import after_round
from fedconvex.proofs_checks.kernel.inhabited import require_inhabited
from fedconvex.proofs_checks.kernel.reading import read
from fedconvex.proofs_checks.kernel.runs import RunBoard, require_rounds
from fedconvex.proofs_checks.kernel.scalars import Refused, Scalar, require
from fedconvex.proofs_checks.kernel.vectors import Quantity, Vec


@final
@dataclass(frozen=True)
class Theorem:
    """A claim that the kernel has proved of a setting."""

    setting: ClaimSetting
    claim: Claim


OF_PARAMETERS = frozenset(("constant", "parameter", "named", "+", "-", "*", "/", "^", "neg", "root", "max"))
Known = Callable[
    [str], tuple[ClaimSetting, Claim, proofs.Derivation]
]  # another statement; raises Refused where it has no proof


def theorem(setting: ClaimSetting, claim: Claim, proof: proofs.Derivation, known: Known | None = None) -> Theorem:
    """Replays the proof. Raises Refused where it does not prove the claim in the setting."""
    library = Library(_no_statements if known is None else known)
    try:
        return _proved(setting, claim, proof, library)
    except Refused:
        raise
    except Exception as error:  # what a method, arithmetic or Python itself refuses, such as trees that are too deep
        raise Refused(f"{type(error).__name__}: {error}") from error


def _proved(setting: ClaimSetting, claim: Claim, proof: proofs.Derivation, library: "Library") -> Theorem:
    setting, claim, proof = read(setting, ClaimSetting), read(claim, Claim), read(proof, proofs.Derivation)
    require(claim.parameters <= setting.signs.keys(), "the claim has parameters that the setting does not know")
    require(not (claim.of_run and setting.rests), "a claim about a whole run, at a fixed point")
    at_other = claim.of_run or setting.rests
    require(not (setting.first_round and at_other), "a first round of a run, or at a fixed point")
    require_inhabited(setting)
    _prove(setting, claim, proof, library)
    return Theorem(setting, claim)


def _prove(setting: ClaimSetting, claim: Claim, proof: proofs.Derivation, library: "Library") -> None:
    """Replays the proof, or those of the two cases. Raises Refused."""
    if (cases := proof.cases) is not None:
        require(proof == proofs.Derivation(cases=cases), "a proof by cases, with lines of its own")
        inside = (part.head for side in (cases.more, cases.less) for part in parts(side))
        require(OF_PARAMETERS.issuperset(inside), "cases of numbers that are not of parameters alone")
        # An integer that is not at least n is at most n − 1.
        most = cases.less - 1 if _is_count(cases.more, setting) and _is_integer(cases.less) else cases.less
        for larger, smaller, of_case in ((cases.more, cases.less, cases.above), (most, cases.more, cases.below)):
            _prove(replace(setting, conditions=(*setting.conditions, (larger, ">=", smaller))), claim, of_case, library)
        return
    terms = [*_terms(claim), *_terms(proof)]
    board = RoundBoard(setting, terms, proof.invariants, one_client=claim.of_client, rounds=claim.rounds)
    _check_invariants(board, proof.invariants)
    of_round = _replayed(proof.of_round, LINES, board, {}, library)
    on: Any = board
    if claim.of_run:
        require_rounds(claim, setting)
        # The lines name their unknowns as the board of any round does; on that of the first round they mean others.
        on = RunBoard(board, lambda at, f, squares: _total(at, f, squares, of_round if at is board else {}, library))
    lines = _replayed(proof.lines, RUN_LINES if claim.of_run else LINES, on, {} if claim.of_run else of_round, library)
    require(proof.lines, "a proof without lines")
    _require_claimed(on, claim, list(lines.values())[-1])


def _is_count(term: Number, setting: ClaimSetting) -> bool:
    return term.head == "parameter" and term.args[0] in setting.counts


def _is_integer(term: Number) -> bool:
    return term.head == "constant" and bool(term.args[0].denominator == 1)


def _require_claimed(on: Any, claim: Claim, last: "Difference") -> None:
    """Refuses where the last line does not say what the claim says, whatever names either gives to its terms."""
    if type(claim.left) is Vector:
        require(not claim.of_run and not (on.vector(claim.right) - on.vector(claim.left)).parts, "the vectors differ")
        return
    require(type(last.difference) is Quantity, "the last line is not the claim")
    rest = on.number(claim.right) - on.number(claim.left) - last.difference
    require(not rest.terms and (last.exact or claim.relation == "<="), "the last line is not the claim")


@final
class Library:
    """Other statements, proved in their turn: nothing is believed because somebody says that it is a theorem."""

    def __init__(self, known: Known):
        self.known, self.proved, self.under_way = known, dict[str, Theorem](), list[str]()

    def __call__(self, identifier: str) -> Theorem:
        if identifier not in self.proved:
            require(identifier not in self.under_way, f"{identifier} rests on itself")
            self.under_way.append(identifier)
            self.proved[identifier] = _proved(*self.known(identifier), self)
            self.under_way.pop()
        return self.proved[identifier]


def _no_statements(identifier: str) -> Any:
    raise Refused(f"no statement {identifier} is known")


def _terms(of: Any) -> list[Any]:
    """All terms in a claim or a proof."""
    if type(of) in (Vector, Number):
        return [of]
    if type(of) is tuple:
        return [t for part in of for t in _terms(part)]
    return [t for name in getattr(of, "__dataclass_fields__", ()) for t in _terms(getattr(of, name))]


def _check_invariants(board: RoundBoard, invariants: Any) -> None:
    """Each invariant holds at the method's start, and after a round that begins with all of them."""
    of_one = board.setting.rests or board.setting.first_round
    require(not (invariants and of_one), "an invariant is kept by every round, not by one at rest or the first one")
    start = board.at_its_start() if invariants else board
    for what, always in invariants:
        sort, _, name = what.partition(" ")
        begun, after = (
            state.server if what == "server" else getattr(state, sort)[name] for state in (start.first, board.played)
        )
        require(begun.key == start.vector(always).key, f"{what} differs from its invariant at the start")
        require(after.key == board.vector(after_round(always)).key, f"a round breaks the invariant of {what}")


def _replayed(lines: Any, rules: Mapping[type, Any], on: Any, before: "Lines", library: "Library") -> "Lines":
    """The relations of the lines, by name, with those before."""
    found = dict(before)
    for place, line in enumerate(lines, 1):
        name = line.name or f"line {place}"
        require(type(line) in rules, f"{name}: {type(line).__name__} is no line of this kind of proof")
        require(name not in found, f"two lines are called {name}")
        try:
            found[name] = rules[type(line)](on, line, found, library)
        except Refused as error:
            raise Refused(f"{name}: {error}") from None
    return found


@final
@dataclass(frozen=True)
class Difference:
    """difference ≥ 0, or = 0 where exact. A relation of vectors has a vector as its difference."""

    difference: Any
    exact: bool = False


Lines = Mapping[str, Difference]


# ---- lines


def _combine(board: RoundBoard, line: proofs.Combine, lines: Mapping[str, Difference], library: Library) -> Difference:
    require(line.relation in ("<=", "="), f"{line.relation} is no relation of a line")
    if type(line.left) is Vector:
        require(type(line.right) is Vector and line.relation == "=" and not line.facts and not line.squares,
                "vectors are only compared with equal vectors")  # fmt: skip
        difference = board.vector(line.right) - board.vector(line.left)
        require(not difference.parts, "the two vectors differ")
        return Difference(difference, exact=True)
    found = board.number(line.right) - board.number(line.left)
    exact = line.relation == "="
    rest = found - _total(board, line.facts, line.squares, lines, library, exact)
    require(not rest.terms, f"the sum of the facts is not the claim: {_shown(rest)} is left")
    return Difference(found, exact)


def _total(
    board: RoundBoard, facts: Any, squares: Any, lines: Lines, library: Library, exact: bool = False
) -> Quantity:
    """Σ multiplier · fact + Σ weight · ‖vector‖², which is ≥ 0; with `exact`, of equations alone, = 0."""
    total = Quantity()
    for multiplier, fact in facts:
        relation = _fact(board, fact, lines, library)
        require(type(relation.difference) is Quantity, "an equation of vectors has no multiplier")
        factor = board.number(multiplier)
        require(relation.exact or not exact, "an equation rests on an inequality")
        if not relation.exact:
            require(_is_nonnegative(board, factor), f"a multiplier that may be negative, of {type(fact).__name__}")
        total = total + board.product(factor, relation.difference)
    for weight, vector in squares:
        require(not exact, "an equation rests on a square")
        factor, u = board.number(weight), board.vector(vector)
        require(_is_nonnegative(board, factor), "a weight of a square that may be negative")
        total = total + board.product(factor, board.inner(u, u))
    return total


def _combine_in_run(run: RunBoard, line: proofs.Combine, lines: Lines, library: Library) -> Difference:
    require(
        line.relation == "<=" and not line.squares and type(line.left) is Number, "a line about a run is a sum of facts"
    )
    found = run.number(line.right) - run.number(line.left)
    rest = found
    for multiplier, fact in line.facts:
        factor = run.board.parameter_only(multiplier)
        difference, exact = run.fact(fact, lines)
        require(exact or run.field.is_nonnegative(factor), "a multiplier that may be negative")
        rest = rest - difference * factor
    require(not rest.terms, f"the sum of the facts is not the claim: {_shown(rest)} is left")
    return Difference(found)


def _root(board: RoundBoard, line: proofs.Root, lines: Mapping[str, Difference], library: Library) -> Difference:
    require(line.of in lines, f"no earlier line {line.of}")
    left, right = board.number(line.left), board.number(line.right)
    require(_is_nonnegative(board, right), "the larger side may be negative")
    squared = board.product(right, right) - board.product(left, left)
    require(not (squared - lines[line.of].difference).terms, f"{line.of} is not about the squares")
    return Difference(right - left)


def _local_steps(board: RoundBoard, line: proofs.LocalSteps, lines: Lines, library: Library) -> Difference:
    steps, answers = board.setting.gradient_steps.get("steps"), board.answers.points
    require(steps is not None, "the setting has no gradient steps")
    moving = Vector("family", (line.family,))
    # A gradient there depends on it, too: the term is looked at, not the vector.
    require(moving not in parts(line.to), f"{line.family} is any point, and moves with the steps")
    u, v = board.vector(moving), board.vector(line.to)
    ratio = board.parameter_only(line.ratio)
    require(board.field.is_nonnegative(ratio), "a factor that may be negative")
    of_step = board.length(u - v) * ratio - board.length(board.local_step(u) - v)
    rest = of_step - _total(board, line.facts, line.squares, lines, library)
    require(not rest.terms, f"the sum of the facts is not the inequality of one step: {_shown(rest)} is left")
    power = board.parameter_only(Number("^", (line.ratio, steps)))
    return Difference(board.length(board.subproblem.start - v) * power - board.length(answers - v))


LINES: Mapping[type, Any] = {proofs.Combine: _combine, proofs.Root: _root, proofs.LocalSteps: _local_steps}
RUN_LINES: Mapping[type, Any] = {
    proofs.Combine: _combine_in_run,
    proofs.Telescope: lambda run, line, lines, library: Difference(run.telescoped(line)),
    proofs.Iterate: lambda run, line, lines, library: Difference(run.iterated(line)),
}


def _is_nonnegative(board: RoundBoard, of: Quantity) -> bool:
    """Whether it is a polynomial in lengths whose coefficients are ≥ 0."""
    return all(all(x[0] in ("‖", IN_MEAN) for x in m) and board.field.is_nonnegative(c) for m, c in of.terms.items())


def _shown(of: Quantity) -> str:
    some = [f"({c})·{'·'.join(' '.join(x) for x in m) or 1}" for m, c in list(of.terms.items())[:4]]
    return " + ".join(some) + (" + …" if len(of.terms) > 4 else "")


# ---- facts


def _fact(board: RoundBoard, fact: Any, lines: Mapping[str, Difference], library: Library) -> Difference:
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
            require(point.is_shared and not board.one_client, "the objective's value at points of the clients")
            return Difference(board.value(point) - board.infimum)
        case proofs.Idle(u):
            return Difference(board.idle_square(board.vector(u)))
        case proofs.Nonnegative(of):
            found = board.number(of)
            require(_is_nonnegative(board, found), "a number that may be negative")
            return Difference(found)
        case proofs.Earlier(line):
            require(line in lines, f"no earlier line {line}")
            return lines[line]
        case proofs.Proved(identifier):
            return _of_statement(board, identifier, library)
    raise Refused(f"{fact!r} is no fact")


def _curvature(board: RoundBoard, end: int, given: Number | None, *points: Vec) -> Scalar:
    """The least (0) or largest (1) curvature that holds at these points: of all clients, else of the objective.

    A given bound must be weaker than the setting's, which may be a maximum of several: each of them holds.
    """
    of_clients, of_objective = board.setting.curvature[end], board.setting.objective[end]
    if of_clients is None:
        require(of_objective is not None, f"no {'largest' if end else 'least'} curvature is assumed")
        # The objective's gradient is the mean of the clients', and inner products with shared vectors see only that.
        require(all(p.is_shared for p in points) and not board.one_client, "the objective's class, at clients' points")
    known = of_objective if of_clients is None else of_clients
    assert known is not None
    if given is None:
        return board.parameter_only(known)
    assert known is not None
    require(_is_tighter(board, end, known, given), "a curvature that is not assumed")
    return board.parameter_only(given)


def _is_tighter(board: RoundBoard, end: int, here: Number, there: Number) -> bool:
    """Whether a least (0) or largest (1) curvature is shown to imply another one."""
    sign = -1 if end else 1
    if end == 0 and there.head == "max":
        return all(_is_tighter(board, end, here, one) for one in there.args)
    if end == 0 and here.head == "max":
        return any(_is_tighter(board, end, one, there) for one in here.args)
    return board.field.is_nonnegative((board.parameter_only(here) - board.parameter_only(there)) * sign)


def _above_quadratic(board: RoundBoard, to: Vector, at: Vector, end: int, given: Number | None) -> Quantity:
    """F(b) − F(a) − ⟨∇F(a), b − a⟩ − (c/2)‖b − a‖²."""
    b, a = board.vector(to), board.vector(at)
    c = _curvature(board, end, given, a, b)
    tangent = board.inner(board.gradient(a), b - a)
    return board.value(b) - board.value(a) - tangent - board.inner(b - a, b - a) * (c / 2)


def _between(board: RoundBoard, fact: proofs.Between) -> Difference:
    b, a = board.vector(fact.b), board.vector(fact.a)
    least, most = _curvature(board, 0, fact.least, a, b), _curvature(board, 1, fact.most, a, b)
    g, d = board.gradient(b) - board.gradient(a), b - a
    if None in board.setting.curvature:  # only the objective's gradient is of the class
        g = board.mean(g)
    return Difference(board.inner(g - d * least, d * most - g))


def _assumed(board: RoundBoard, what: str) -> Difference:
    """The setting's assumption of this name."""
    setting, server = board.setting, board.first.server
    if what in ("inexactness", "error"):
        _ = board.answers
        require(setting.answers == {"inexactness": "inexact", "error": "error"}[what], f"no {what} is assumed")
        bound = board.parameter_only(setting.inexactness) ** 2
        if what == "error":
            e = board.of_clients("e")
            return Difference(board.constant(bound) - board.inner(e, e))
        left, first = board.inexact[0]
        return Difference(board.inner(first, first) * bound - board.inner(left, left))
    if what == "scale":
        require(setting.draws.scheme == "uniform", "clients are not drawn without replacement")
        active, clients = (board.parameter_only(x) for x in (setting.draws.active, setting.draws.clients))
        # σ is any number where m = 1, since nothing varies: there it is 0.
        others = board.field.scalar(1) if board.field.is_nonnegative(1 - clients) else clients - 1
        return Difference(board.constant(board.chances["σ"] * active * others - clients + active), exact=True)
    if what == "initial gap" and setting.initial_gap is not None:
        require(board.at_start, "the initial gap is that of a run's start")
        return Difference(
            board.constant(board.parameter_only(setting.initial_gap)) - board.value(server) + board.infimum
        )
    g = board.gradient(server)
    mean = board.mean(g)
    square = board.inner(mean, mean)
    if what == "dissimilarity" and setting.dissimilarity is not None:
        return Difference(square * board.parameter_only(setting.dissimilarity) ** 2 - board.inner(g, g))
    if what == "variance" and setting.variance is not None:
        return Difference(board.constant(board.parameter_only(setting.variance)) - board.inner(g - mean, g - mean))
    if what == "large gradient" and setting.large_gradient is not None:
        return Difference(square - board.constant(board.parameter_only(setting.large_gradient)))
    raise Refused(f"{what} is not assumed")


def _of_statement(board: RoundBoard, identifier: str, library: Library) -> Difference:
    """The claim of a proved statement, read on this board."""
    other = library(identifier)
    require(not other.claim.of_run and other.claim.of_client == board.one_client, f"{identifier} is of another kind")
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
    for name in ("dissimilarity", "variance", "large_gradient", "initial_gap"):
        require(getattr(other, name) in (None, getattr(mine, name)), f"{problem}: its {name}")
    for name in ("minimiser", "bounded_below", "starts_at_own_minima", "first_round"):
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
        gap = board.parameter_only(left) - board.parameter_only(right)
        holds = board.field.is_positive(gap) if relation == ">" else board.field.is_nonnegative(gap)
        require(
            holds and (relation != "=" or board.field.is_nonnegative(-gap)), f"{problem}: a condition on parameters"
        )


def relation_of(board: RoundBoard, fact: Any) -> Quantity:
    """What a fact says is ≥ 0, for whoever searches for proofs. Raises Refused where the board does not grant it."""
    found = _fact(board, fact, {}, Library(_no_statements)).difference
    require(type(found) is Quantity, "an equation of vectors")
    assert isinstance(found, Quantity)
    return found
