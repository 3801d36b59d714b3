"""The replay of a proof on a board that the kernel makes itself from the setting. Only this decides what is proved.

`theorem` returns a `Theorem` or raises `Refused`, which names the line and the reason. A caller holds nothing that the
kernel believes: settings, claims and proofs are trees of plain data, which are read and never called.
"""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, final

from fedconvex.claims.claim import Claim, ClaimSetting
from fedconvex.claims.terms import Number, Vector, parts
from fedconvex.proofs_checks.kernel import proofs
from fedconvex.proofs_checks.kernel.board import RoundBoard
from fedconvex.proofs_checks.kernel.facts import Difference, Lines, Theorem, is_nonnegative, no_statements, total
from fedconvex.proofs_checks.kernel.formulas import after_round, has_parameter, is_of_parameters
from fedconvex.proofs_checks.kernel.inhabited import require_inhabited
from fedconvex.proofs_checks.kernel.parameters import SettingParameters, any_steps
from fedconvex.proofs_checks.kernel.reading import read
from fedconvex.proofs_checks.kernel.runs import RunBoard
from fedconvex.proofs_checks.kernel.scalars import Refused, require
from fedconvex.proofs_checks.kernel.vectors import Quantity

Known = Callable[
    [str], tuple[ClaimSetting, Claim, proofs.Derivation]
]  # another statement; raises Refused where it has no proof


def theorem(setting: ClaimSetting, claim: Claim, proof: proofs.Derivation, known: Known | None = None) -> Theorem:
    """Replays the proof. Raises Refused where it does not prove the claim in the setting."""
    return Library(no_statements if known is None else known).theorem("", setting, claim, proof)


def _proved(setting: ClaimSetting, claim: Claim, proof: proofs.Derivation, library: "Library") -> Theorem:
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
        sides = (cases.more, cases.less)
        require(all(map(is_of_parameters, sides)), "cases of numbers that are not of parameters alone")
        # The number of rounds before stands for all of them: no case is about some.
        changing = any(has_parameter(side, name) for side in sides for name in (proofs.ROUND, proofs.STEP))
        require(not changing, "cases of the rounds of a run, or of local steps")
        # An integer that is not at least n is at most n − 1.
        most = cases.less - 1 if _is_count(cases.more, setting) and _is_integer(cases.less) else cases.less
        for larger, smaller, of_case in ((cases.more, cases.less, cases.above), (most, cases.more, cases.below)):
            _prove(replace(setting, conditions=(*setting.conditions, (larger, ">=", smaller))), claim, of_case, library)
        return
    terms = [*_terms(claim), *_terms(proof)]
    board = RoundBoard(SettingParameters(setting, terms, claim.rounds), proof.invariants, one_client=claim.of_client)
    check_invariants(board, proof.invariants)
    of_round = _replayed(proof.of_round, LINES, board, {}, library)
    on: Any = board
    if claim.of_run:
        require(not claim.of_client, "a claim about each client in a whole run")
        # The lines name their unknowns as the board of any round does; on that of the first round they mean others.
        on = RunBoard(board, lambda at, f, squares: total(at, f, squares, of_round if at is board else {}, library))
    lines = _replayed(proof.lines, RUN_LINES if claim.of_run else LINES, on, {} if claim.of_run else of_round, library)
    require(proof.lines, "a proof without lines")
    _require_claimed(on, claim, list(lines.values())[-1])


def _is_count(term: Number, setting: ClaimSetting) -> bool:
    return term.head == "parameter" and term.args[0] in setting.counts


def _is_integer(term: Number) -> bool:
    return term.head == "constant" and bool(term.args[0].denominator == 1)


def _require_claimed(on: Any, claim: Claim, last: Difference) -> None:
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
        self.known, self.under_way = known, list[str]()
        self.proved: dict[str, tuple[Any, Theorem]] = {}  # with the proof that was replayed
        self.cited: dict[str, Theorem] = {}  # in the proof under way and those that it rests on

    def __call__(self, identifier: str) -> Theorem:
        if identifier not in self.cited:
            self.cited[identifier] = self.theorem(identifier, *self.known(identifier))
        return self.cited[identifier]

    def theorem(self, identifier: str, setting: ClaimSetting, claim: Claim, proof: proofs.Derivation) -> Theorem:
        """The theorem of this name, replayed where the last one of the name had another claim, setting or proof."""
        require(identifier not in self.under_way, f"{identifier} rests on itself")
        self.cited = self.cited if self.under_way else {}
        self.under_way.append(identifier)
        try:
            made = read(setting, ClaimSetting), read(claim, Claim), read(proof, proofs.Derivation)
            replayed, known = self.proved.get(identifier, (None, None))
            if known is None or replayed != made:
                known = _proved(*made, self)
                self.proved[identifier] = made, known
            return known
        except Refused:
            raise
        except Exception as error:  # of a method, arithmetic or Python, such as trees that are too deep
            raise Refused(f"{type(error).__name__}: {error}") from error
        finally:
            self.under_way.pop()


def _terms(of: Any) -> list[Any]:
    """All terms in a claim or a proof."""
    if type(of) in (Vector, Number):
        return [of]
    if type(of) is tuple:
        return [t for part in of for t in _terms(part)]
    return [t for name in getattr(of, "__dataclass_fields__", ()) for t in _terms(getattr(of, name))]


def check_invariants(board: RoundBoard, invariants: Any) -> None:
    """Each invariant holds at the method's start, and after a round that begins with all of them."""
    of_one = board.setting.rests or board.setting.first_round
    require(not (invariants and of_one), "an invariant is kept by every round, not by one at rest or the first one")
    start = board.at_its_start() if invariants else board
    for what, always in invariants:
        sort, _, name = what.partition(" ")
        begun, after = (
            state.server if what == "server" else getattr(state, sort)[name]
            for state in (start.round.first, board.round.played)
        )
        require(begun.key == start.vector(always).key, f"{what} differs from its invariant at the start")
        require(after.key == board.vector(after_round(always)).key, f"a round breaks the invariant of {what}")


def _replayed(lines: Any, rules: Mapping[type, Any], on: Any, before: Lines, library: "Library") -> Lines:
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


# ---- lines


def _combine(board: RoundBoard, line: proofs.Combine, lines: Lines, library: Library) -> Difference:
    require(line.relation in ("<=", "="), f"{line.relation} is no relation of a line")
    if type(line.left) is Vector:
        require(type(line.right) is Vector and line.relation == "=" and not line.facts and not line.squares,
                "vectors are only compared with equal vectors")  # fmt: skip
        difference = board.vector(line.right) - board.vector(line.left)
        require(not difference.parts, "the two vectors differ")
        return Difference(difference, exact=True)
    found = board.number(line.right) - board.number(line.left)
    exact = line.relation == "="
    rest = found - total(board, line.facts, line.squares, lines, library, exact)
    require(not rest.terms, f"the sum of the facts is not the claim: {_shown(rest)} is left")
    return Difference(found, exact)


def _combine_in_run(run: RunBoard, line: proofs.Combine, lines: Lines, library: Library) -> Difference:
    require(
        line.relation == "<=" and not line.squares and type(line.left) is Number, "a line about a run is a sum of facts"
    )
    found = run.number(line.right) - run.number(line.left)
    rest = found
    for multiplier, fact in line.facts:
        factor = run.parameters.value(multiplier)
        difference, exact = run.fact(fact, lines)
        require(exact or run.field.is_nonnegative(factor), "a multiplier that may be negative")
        rest = rest - difference * factor
    require(not rest.terms, f"the sum of the facts is not the claim: {_shown(rest)} is left")
    return Difference(found)


def _root(board: RoundBoard, line: proofs.Root, lines: Lines, library: Library) -> Difference:
    require(line.of in lines, f"no earlier line {line.of}")
    left, right = board.number(line.left), board.number(line.right)
    require(is_nonnegative(board, right), "the larger side may be negative")
    squared = board.product(right, right) - board.product(left, left)
    require(not (squared - lines[line.of].difference).terms, f"{line.of} is not about the squares")
    return Difference(right - left)


def _local_steps(board: RoundBoard, line: proofs.LocalSteps, lines: Lines, library: Library) -> Difference:
    steps, answers = board.setting.gradient_steps.get("steps"), board.round.answers.points
    require(steps is not None, "the setting has no gradient steps")
    moving = Vector("family", (line.family,))
    # A gradient there depends on it, too: the term is looked at, not the vector.
    require(moving not in parts(line.to), f"{line.family} is any point, and moves with the steps")
    u, v = board.vector(moving), board.vector(line.to)
    ratio = board.parameters.value(line.ratio)
    require(board.field.is_nonnegative(ratio), "a factor that may be negative")
    of_step = board.length(u - v) * ratio - board.length(board.round.local_step(u) - v)
    rest = of_step - total(board, line.facts, line.squares, lines, library)
    require(not rest.terms, f"the sum of the facts is not the inequality of one step: {_shown(rest)} is left")
    power = board.parameters.value(Number("^", (line.ratio, steps)))
    return Difference(board.length(board.round.subproblem.start - v) * power - board.length(answers - v))


def _along_steps(board: RoundBoard, line: proofs.AlongSteps, lines: Lines, library: Library) -> Difference:
    steps, step = any_steps(board.setting), Number("parameter", (proofs.STEP,))
    require(steps, "the number of local steps is no parameter")
    moving, last = Vector("family", (line.family,)), Vector("before last step")
    _ = board.round.answers
    require(board.vector(line.start).key == board.round.subproblem.start.key, "the local steps start somewhere else")
    after = line.potential.put(step, step + 1).put(moving, Vector("local step", (moving,)))
    of_step = board.number(line.potential) - board.number(after)
    rest = of_step - total(board, line.facts, line.squares, lines, library)
    require(not rest.terms, f"the sum of the facts is not the inequality of one step: {_shown(rest)} is left")
    before = line.potential.put(step, proofs.ZERO).put(moving, line.start)
    ended = line.potential.put(step, Number("parameter", (steps,)) - 1).put(moving, last)
    return Difference(board.number(before) - board.number(ended))


LINES: Mapping[type, Any] = {
    proofs.Combine: _combine, proofs.Root: _root, proofs.LocalSteps: _local_steps, proofs.AlongSteps: _along_steps,
}  # fmt: skip
RUN_LINES: Mapping[type, Any] = {
    proofs.Combine: _combine_in_run,
    proofs.Telescope: lambda run, line, lines, library: Difference(run.telescoped(line)),
    proofs.Iterate: lambda run, line, lines, library: Difference(run.iterated(line)),
}


def _shown(of: Quantity) -> str:
    some = [f"({c})·{'·'.join(' '.join(x) for x in m) or 1}" for m, c in list(of.terms.items())[:4]]
    return " + ".join(some) + (" + …" if len(of.terms) > 4 else "")
