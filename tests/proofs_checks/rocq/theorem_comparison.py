"""An exported theorem, as `theorem_reader` reads it, beside the statement's claim and setting.

The two sides of its conclusion must be those of the claim in made-up worlds, its hypotheses about parameters and about
functions those of the setting, and its equations between vectors true in the round that the kernel plays.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Any

import numpy as np

from fedconvex.claims.terms import (
    Number,
    Vector,
    answers,
    expected,
    gradient,
    infimum,
    local_step,
    mean,
    minimiser,
    norm,
    number,
    parameter,
    parts,
    proximal,
    residuals,
    server,
    solutions,
    square,
    value,
)
from fedconvex.proofs_checks.claims import builder_of, derivation_of
from fedconvex.proofs_checks.kernel import Refused
from fedconvex.proofs_checks.kernel.board import RoundBoard
from fedconvex.proofs_checks.kernel.parameters import SettingParameters, any_steps
from fedconvex.proofs_checks.kernel.proofs import Derivation
from fedconvex.proofs_checks.kernel.replay import _terms
from fedconvex.proofs_checks.kernel.vectors import APART, KEPT, REPLACED, SAME
from fedconvex.statements.statement import Statement
from tests.fedconvex.claims.display.worlds import HERE, IN_A_ROUND, Meaning, Place, World

from .theorem_reader import (
    PATH,
    SUCCESSOR,
    Reading,
    Theorem,
    Tree,
    meanings,
    name_of,
    one_round_later,
    spine,
    theorem_in,
)

Fact = tuple[Any, ...]  # a kind of hypothesis, with numbers that tell those of the kind apart
SEEDS = (3, 4, 5)
SHARED = ("server", "minimiser", "shared", "free", "proximal")  # the same for all clients
GIVEN = (*SHARED, "family", "memory", "last answers", "before last step")  # needs no equation
WRITTEN_OUT = ("residuals", "local step", "proximal", "before last step")  # by the method's own subproblem


@dataclass(frozen=True)
class Symmetric(Meaning):
    """Terms with another symmetric function in the place of maxima, one in which the smaller number counts, too."""

    def __call__(self, term: Any, at: Place) -> Any:
        if term.head != "max":
            return super().__call__(term, at)
        return (1 + self(term.args[0], at)) * (1 + self(term.args[1], at)) - 1


@dataclass(frozen=True)
class Assumed(World):
    """A world where parameters equal the formulas that conditions say they are.

    `fixed`: the draw changes only what comes after the round, as in a claim about one round.
    """

    fixed: bool = False
    equal: Mapping[str, Number] = field(default_factory=dict, hash=False)

    def number(self, name: str) -> float:
        return float(Symmetric(self)(self.equal[name], Place())) if name in self.equal else super().number(name)

    def atom(self, head: str, name: str, at: Place, time: int) -> np.ndarray:
        before = self.fixed and (time == 0 or head in IN_A_ROUND)
        return super().atom(head, name, replace(at, outcome=0) if before else at, time)


@cache  # an altered theorem has most terms of the right one
def value_in(world: Assumed, each: bool, term: Any, at: Place) -> Any:
    return Symmetric(world, each)(term, at)


def differences(of: Statement, text: str) -> list[str]:
    """How the text's theorem differs from the statement, for the meaning of its letters that is nearest to it.

    Raises Unreadable for text that is no theorem.
    """
    assert of.claim is not None
    theorem, cases = theorem_in(text), cases_of(of)
    given = {p.args[0] for side in (of.claim.left, of.claim.right) for p in parts(side) if p.head in ("free", "family")}
    left = residuals if of.setting.answers == "inexact" else answers - solutions
    nearest = ["no meaning of its letters"] * 100
    for letters in meanings(theorem, cases[0][0].round.names, given, left):
        try:
            found = [p for case in cases for p in Comparison(of, theorem, letters, *case).problems()]
        except (Refused, ValueError, ArithmeticError, LookupError) as error:  # LookupError: a letter that is none here
            found = [f"{type(error).__name__}: {error}"] * 99
        nearest = min(nearest, found, key=len)
    return nearest


@cache
def cases_of(of: Statement) -> tuple[tuple[RoundBoard, frozenset[str]], ...]:
    """The round of the setting, as the kernel plays it, in each case of the proof; and what has an invariant."""
    assert of.claim is not None
    proof = derivation_of(of) if builder_of(of) is not None else Derivation(())
    terms, rounds, one_client = [*_terms(of.claim), *_terms(proof)], of.claim.rounds, of.claim.of_client

    def made(case: Derivation, *more: Any) -> Iterator[tuple[RoundBoard, frozenset[str]]]:
        if (cases := case.cases) is not None:
            yield from made(cases.above, *more, (cases.more, ">=", cases.less))
            yield from made(cases.below, *more, (cases.less, ">=", cases.more))
            return
        setting = replace(of.setting, conditions=(*of.setting.conditions, *more), rests=False)
        board = RoundBoard(SettingParameters(setting, terms, rounds), case.invariants, one_client=one_client)
        yield board, frozenset(what for what, _ in case.invariants)

    return tuple(made(proof))


class Comparison:
    """One meaning of a theorem's letters, in one case of the proof."""

    def __init__(
        self, of: Statement, theorem: Theorem, letters: Mapping[str, Vector], board: Any, invariants: frozenset[str]
    ):
        assert of.claim is not None
        self.claim, self.setting, self.theorem = of.claim, of.setting, theorem
        self.board, self.start, self.invariants = board, board.at_its_start(), invariants
        names = {p: parameter(p if p in self.setting.signs else p.rstrip("_")) for p in theorem.parameters}
        names |= {"infimum": infimum} if "infimum" in names else {}
        later = {letter: one_round_later(u) for letter, u in letters.items()} if theorem.of_run else {}
        self.reading = Reading(theorem, letters, later, names, self.claim.rounds, any_steps(self.setting))
        self._read_proximal()
        equal = {x.args[0]: y for x, sign, y in self.setting.conditions if (x.head, sign) == ("parameter", "=")}
        outcomes, clients = 3 if theorem.drawn else 1, 1 if theorem.one_client else 3
        self.worlds = [
            Assumed(seed, outcomes, self.claim.rounds, clients, fixed=not theorem.of_run, equal=equal) for seed in SEEDS
        ]
        self.defined: set[str] = set()  # letters with an equation for them, or for the gradient there
        self.equal: set[str] = set()  # those with an equation for them
        self.begun, self.moved = set[str](), set[str]()  # in a run, with an equation at the start, and in every round
        self.shared: dict[str, set[str]] = {}  # letters of which this is said

    def _read_proximal(self) -> None:
        """What the objective's proximal point is: mean ∇F there is c(v − the point)."""
        for tree in self.theorem.hypotheses:
            match tree:
                case ("=", ("app", ("name", "mean"), ("app", ("name", "gradient"), _, ("name", "prox"))),
                      ("*", c, ("-", v, ("name", "prox")))):  # fmt: skip
                    weight, center = self.reading.term(c), self.reading.term(v)
                    letters = {**self.reading.letters, "prox": proximal(weight, center)}
                    self.reading = replace(self.reading, letters=letters)

    def problems(self) -> Iterator[str]:
        """What differs."""
        yield from self._conclusion()
        found: set[Fact] = set()
        for tree in self.theorem.hypotheses:
            problem, fact = self._hypothesis(tree, self.reading)
            found |= {fact} if fact else set()
            if problem:
                yield problem
        wanted = {*self._assumed(), *self._about_vectors()}
        yield from (f"no hypothesis {x}" for x in wanted - found)
        yield from (f"another hypothesis {x}" for x in found - wanted)
        yield from self._about_letters()

    def _conclusion(self) -> Iterator[str]:
        relation, *sides = self.theorem.conclusion
        if relation != self.claim.relation:
            yield "another relation"
            return
        for tree, wanted in zip(sides, (self.claim.left, self.claim.right), strict=True):
            side = self.reading.term(tree)
            if any(p.head in WRITTEN_OUT for p in parts(wanted)):
                same = self._same_in_round(side, wanted)
            else:
                a, b = self._values(side, self.theorem.one_client), self._values(wanted, self.claim.of_client)
                same = a.shape == b.shape and np.allclose(a, b, rtol=1e-7, atol=1e-8)
            if not same:
                yield f"the conclusion has {side} for {wanted}"

    def _same_in_round(self, side: Any, wanted: Any) -> bool:
        if type(wanted) is Vector:
            return not (self.board.vector(side) - self.board.vector(wanted)).parts
        return not (self.board.number(side) - self.board.number(wanted)).terms

    def _values(self, term: Any, each: bool = False) -> np.ndarray:
        start = Place(round=0 if self.theorem.of_run else HERE)
        clients = self.worlds[0].clients if each or type(term) is Vector else 1  # other numbers are means over them
        places = [replace(start, client=k) for k in range(clients)]
        return np.array([value_in(world, each, term, place) for world in self.worlds for place in places], dtype=float)

    def _fact(self, kind: str, *terms: Any, each: bool = False) -> Fact:
        values = (
            tuple(np.round(self._values(x, each), 8).ravel()) if type(x) in (Vector, Number) else x for x in terms
        )
        return (kind, *values)

    # ---- hypotheses

    def _hypothesis(self, tree: Tree, at: Reading) -> tuple[str, Fact | None]:
        """What is wrong with a hypothesis about vectors, or the assumption that it is."""
        match tree:
            case ("forall", ("k",), ("app", ("name", kind), c, ("app", ("name", "f"), ("name", "k")))):
                return "", self._fact(kind, at.term(c), "f k")
            case ("app", ("name", ("curvature_at_least" | "curvature_at_most") as kind), c, of):
                return "", self._fact(kind, at.term(c), " ".join(map(name_of, spine(of))))
            case ("app", ("name", "similar"), delta, ("name", "f")):
                return "", self._fact("similar", at.term(delta))
            case ("app", ("name", "single"), ("name", "C")):
                return "", ("single",)
            case ("app", ("name", "gap_at_most"), gap, ("name", "f"), least):
                return "", self._fact("gap", at.term(gap), at.term(least))
            case ("forall", ("u",), ("->", is_shared, ("<=", lowest, ("app", ("name", "value"), _, ("name", "u"))))):
                same = str(is_shared).replace("mean_of_all", "mean")
                right = same == str(("=", ("app", ("name", "mean"), ("name", "u")), ("name", "u")))
                return "" if right else "the infimum", self._fact("infimum", at.term(lowest))
            case ("forall", ("j" | "past",), ("app", ("name", "shared"), ("app", of, _))):
                return self._hypothesis(("app", ("name", "shared"), of), at)
            case ("app", ("name", ("shared" | "common" | "fixed") as kind), ("name", letter)):
                self.shared.setdefault(kind, set()).add(letter)
                return "", None
            case ("=", left, ("app", ("name", "INR"), ("name", count))):
                return "", self._fact("count", at.term(left), count)
            case ("forall", ("j" | "past",), ("->", ("<", _, ("name", "rounds")), inside)):
                return self._hypothesis(inside, at.in_round)
            case ("forall", ("i",), ("->", ("<", ("name", "i"), ("name", "steps")), inside)):
                return self._hypothesis(inside, at)
            case ("forall", ("k",) | ("o", "k"), inside):
                return self._hypothesis(inside, at)
            case ("<=", ("app", ("name", "norm"), left), ("*", most, ("app", ("name", "norm"), right))):
                _ = self.board.round.answers
                wanted = self.board.round.inexact[0] if self.setting.answers == "inexact" else ()
                pairs = zip(wanted, (left, right), strict=False)
                differ = [self._same(u, _of_client(v, at)) for u, v in pairs]
                return "".join(differ), self._fact("inexact", at.term(most))
            case ("<=", ("app", ("name", "norm"), left), most):
                return "", self._fact("each", norm(_of_client(left, at)), at.term(most), each=True)
            case ("=", left, right):
                return self._equation(left, right, at)
            case (("<=" | "<") as relation, left, right):
                return "", self._fact(relation, at.term(left), at.term(right))
        return f"unknown hypothesis: {tree}", None

    def _equation(self, left: Tree, right: Tree, at: Reading) -> tuple[str, Fact | None]:
        """Whether both sides are the same vector in the round that the kernel plays."""
        head, *operands = spine(left)
        if (name_of(head), operands[-1:]) == ("y", [("name", "O")]):
            _ = self.board.round.answers
            return self._same(self.board.round.subproblem.start, at.term(right)), ("path starts",)
        at_start = re.search(r"'(O|nil)'", str((left, right))) is not None
        self._note(left, at_start, name_of(spine(right)[0]) == "sum_of_steps")
        match spine(right):
            case [("name", "y"), *_, ("name", "steps")]:
                return "" if at.term(left) == answers else "the path ends elsewhere", ("path ends",)
            case [("name", "sum_of_steps"), ("fun", ("i",), each), ("name", "steps")]:
                same = (at.term(left), at.term(each)) == (Vector("local gradients"), gradient(PATH))
                return "" if same else "other local gradients", None
        x, y = at.term(left), at.term(right)
        if self.setting.rests and type(x) is Vector and x.args[-1:] == (1,) and y.args[-1:] == (0,):
            return "", ("rests", x.head, *x.args[:-1], *y.args[:-1])
        if type(x) is Number or type(y) is Number:
            return "", self._fact("=", x, y)
        known = {mean(gradient(minimiser)): ("stationary",), local_step(PATH): ("path goes on",)}.get(x)
        return self._same(self._vector(x, at_start), y, at_start), known

    def _note(self, left: Tree, at_start: bool, passed: bool) -> None:
        """Notes the one letter that the equation defines, if it does; `passed` is the sum of local gradients."""
        head, *operands = spine(left)
        of = operands[-1] if name_of(head) == "gradient" else left
        inside = [x for x in re.findall(r"'(\w+)'", str(of)) if x in self.reading.letters]
        moved = SUCCESSOR in operands or name_of(head) == "next"
        if len(inside) != 1 or name_of(head) in ("mean", "mean_of_all"):
            return
        if at_start or moved:
            (self.begun if at_start else self.moved).update(inside)
            return
        self.defined.update(inside)
        self.equal |= {*inside} if of is left and not passed else set()

    def _vector(self, term: Vector, at_start: bool = False) -> Any:
        """The vector on the kernel's board; `selected` is 1_k u_k."""
        match term.head, term.args:
            case "selected", (u,):
                return self._vector(u).renamed({SAME: KEPT, APART: REPLACED})
            case "+", (u, v):
                return self._vector(u, at_start) + self._vector(v, at_start)
        return (self.start if at_start else self.board).vector(term)

    def _same(self, of: Any, right: Vector, at_start: bool = False) -> str:
        return f"two vectors differ: {right}" if (of - self._vector(right, at_start)).parts else ""

    # ---- what the setting assumes

    def _assumed(self) -> Iterator[Fact]:
        """About parameters and functions."""
        setting, fact = self.setting, self._fact
        for name, sign in setting.signs.items():
            if sign != "real":
                yield fact("<" if sign == "positive" else "<=", number(0), parameter(name))
        for left, relation, right in setting.conditions:
            yield fact({">=": "<=", ">": "<", "=": "="}[relation], right, left)
        yield from (fact("<=", number(1), parameter(name)) for name in setting.counts)
        if self.claim.rounds:
            yield fact("count", parameter(self.claim.rounds), "rounds")
        if self.theorem.of_steps:
            yield fact("count", parameter(any_steps(setting)), "steps")
            yield from (("path starts",), ("path goes on",), ("path ends",))
        if setting.draws.scheme == "independent":
            yield fact("count", setting.draws.active, "n")
        for kind, own, of_all in zip(("least", "most"), setting.curvature, setting.objective, strict=True):
            if own is not None:
                yield fact(f"curvature_at_{kind}", own, "f" if self.claim.of_client else "f k")
            elif of_all is not None:
                yield fact(f"curvature_at_{kind}", of_all, "objective f")
        if setting.similarity is not None:
            yield fact("similar", setting.similarity)
        if setting.single_client:
            yield ("single",)

    def _about_vectors(self) -> Iterator[Fact]:
        setting, letters, w = self.setting, self.reading.letters.values(), server(0)
        g = gradient(w)
        if minimiser in letters:
            yield ("stationary",)
        if setting.rests:
            yield ("rests", "server")
            yield from (("rests", *name.split(" "), name.split(" ")[1]) for name in self.board.round.names)
        if setting.objective_gap is not None:
            yield self._fact("gap", setting.objective_gap, self._averaged(value(minimiser)))
        if setting.bounded_below:
            yield self._fact("infimum", infimum)
        if setting.dissimilarity is not None:
            right = setting.dissimilarity**2 * self._averaged(square(mean(g)))
            yield self._fact("<=", self._averaged(square(g)), right)
        if setting.variance is not None:
            yield self._fact("<=", self._averaged(square(g - mean(g))), setting.variance)
        if setting.large_gradient is not None:
            yield self._fact("<=", setting.large_gradient, self._averaged(square(mean(g))))
        if setting.initial_gap is not None:
            yield self._fact("<=", self._averaged(value(w)) - infimum, setting.initial_gap)
        if setting.answers == "error":
            yield self._fact("each", norm(answers - solutions), setting.inexactness, each=True)
        if setting.answers == "inexact":
            yield self._fact("inexact", setting.inexactness)

    def _averaged(self, of: Number) -> Number:
        return expected(of) if self.theorem.drawn and not self.theorem.of_run else of

    def _about_letters(self) -> Iterator[str]:
        """What must be said of each vector: what it is, and that it is one for all clients."""
        letters, theorem = self.reading.letters, self.theorem
        given = {x for x, u in letters.items() if u.head in GIVEN and 1 not in u.args}
        given |= {x for x, u in letters.items() if u in (residuals, answers - solutions)}
        yield from (f"nothing says what {x} is" for x in letters.keys() - given - self.defined)
        free = letters.keys() - self.equal
        shared = {x for x in free if letters[x].head in SHARED}
        kinds = {"fixed": free, "common": shared} if theorem.drawn and not theorem.of_run else {"shared": shared}
        if theorem.of_run:  # what an invariant says of a vector, the theorem proves of every round
            kept = {x for x in shared if f"shared {letters[x].args[0] if letters[x].args else ''}" in self.invariants}
            kinds = {"shared": shared - kept}
            # What is only looked at before the first round has no equation for the others.
            differ = self.begun ^ self.moved ^ {x for x, u in letters.items() if u == server(0)}
            for letter in {x for x in differ if x in self.moved or theorem.has_at_other_moments(x)}:
                yield f"at the start or in every round nothing is said of {letter}"
        for kind, wanted in {} if theorem.one_client else kinds.items():
            if self.shared.get(kind, set()) != wanted:
                yield f"{kind}: {self.shared.get(kind)} for {wanted}"
        yield from (f"{x} is not shared" for x in shared if not self.board.vector(letters[x]).is_shared)


def _of_client(tree: Tree, at: Reading) -> Any:
    """The vectors u of all clients, of u k."""
    u = [x for x in spine(tree) if x not in (("name", "k"), ("name", "o"))]
    return at.term(u[0] if len(u) == 1 else ("app", *u))
