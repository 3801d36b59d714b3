"""What a worst-case question is in the claim language: its vectors, inequalities, claim and setting."""

from collections.abc import Iterable, Mapping
from dataclasses import fields
from fractions import Fraction
from typing import Any, TypeVar, final

from fedconvex.arithmetic.rationals import ExactNumber, to_fraction
from fedconvex.claims.claim import Claim, ClaimSetting, DrawScheme, at_most
from fedconvex.claims.methods import Value
from fedconvex.claims.terms import (
    Number,
    Vector,
    answers,
    expected,
    gradient,
    infimum,
    last_answers,
    mean,
    memory,
    minimiser,
    next_round,
    number,
    parameter,
    parts,
    residuals,
    rounds_ahead,
    server,
    square,
    value,
)
from fedconvex.local_solvers.exact import Exact
from fedconvex.local_solvers.gradient_descent import GradientDescent
from fedconvex.local_solvers.inexactness import ToInexactness
from fedconvex.parameters import in_rationals, is_scheduled
from fedconvex.proofs_checks.kernel.proofs import Hypothesis, Infimum, Upper
from fedconvex.proofs_checks.library import Parts, by, interpolation
from fedconvex.proofs_checks.symbolic import random_vectors
from fedconvex.proofs_checks.worst_cases.programs.quadratic_forms import DEVIATION, MEAN, ZERO, Family, shared
from fedconvex.proofs_checks.worst_cases.questions.question import Question
from fedconvex.proofs_checks.worst_cases.questions.ratios import DISTANCE, START
from fedconvex.proofs_checks.worst_cases.questions.terms import LEAST
from fedconvex.stepsizes import StepsizeSchedule

MOST_BITS = 900  # of a number that is written out; the kernel reads none that is much longer
Condition = tuple[Number, str, Number]
ONE = number(1)
T = TypeVar("T", Vector, Number)


class NoLemma(ValueError):
    """A certificate that is no claim about a method's rounds with a proof."""


def written(x: Any) -> Number:
    """A number as a term; a rational number with very many digits as a formula of shorter ones."""
    of: Any = x
    if isinstance(x, ExactNumber):  # `Parametric`, whose module needs SymPy
        return of.term  # type: ignore[no-any-return]
    exact = to_fraction(x)
    if max(exact.numerator.bit_length(), exact.denominator.bit_length()) <= MOST_BITS:
        return number(exact)
    return _of_short_numbers(exact.numerator) / _of_short_numbers(exact.denominator)


def combined(terms: Iterable[tuple[Any, Vector]]) -> Vector:
    """Σ c·u, without those that are 0."""
    shown = [u if c == 1 else written(c) * u for c, u in terms if c]
    return sum(shown[1:], start=shown[0]) if shown else 0 * minimiser


def split(u: Vector, of_mean: Any, of_deviation: Any) -> tuple[tuple[Any, Vector], ...]:
    """Multiples of the mean and of the deviation; of the whole vector where they are the same."""
    return ((of_mean, u),) if of_mean == of_deviation else ((of_mean, mean(u)), (of_deviation, u - mean(u)))


def _of_short_numbers(n: int) -> Number:
    if n.bit_length() <= MOST_BITS:
        return number(n)
    high, low = divmod(n, 1 << MOST_BITS)
    return _of_short_numbers(high) * number(1 << MOST_BITS) + low


def in_round(t: int, u: Vector) -> Vector:
    """The vector of the first round in round t."""
    return next_round(in_round(t - 1, u)) if t else u


def at_the_end(side: T, rounds: int) -> T:
    """The term with time 1 after all rounds, as in a ratio, in the place of after the first one."""
    if 1 in [a for a in side.args if type(a) is int]:
        return in_round(rounds - 1, side)  # type: ignore[arg-type, return-value]
    inside = (at_the_end(a, rounds) if type(a) in (Vector, Number) else a for a in side.args)
    return type(side)(side.head, tuple(inside))


@final
class QuestionTerms:
    """A question about any round, or first rounds, of any number of clients; raises NoLemma for what is no such one."""

    def __init__(self, question: Question):
        self.question, self.spec, self.board = question, question.spec, question.board
        self.low, self.high = written(self.spec.clients.lowest), written(self.spec.clients.highest)
        self.known = {self._at(term).key: term for term in self._moments()}  # points that have a term of their own
        self.unknown: dict[str, Vector] = {"e1": residuals, "g*": gradient(minimiser)}  # the board's unknown vectors
        for key, term in self.known.items():
            for name in {name for (_, name), _ in key}:
                if key == self.board.vectors(name).key or key == shared("w").key:
                    self.unknown[name] = term - minimiser if self.board.minimiser else term
        self.points: list[Vector] = []
        for n, evaluation in enumerate(self.board.evaluations):
            self.points.append(self._point(evaluation.point))
            self.unknown[f"g{n}"] = gradient(self.points[n])

    # ---- vectors

    @property
    def _speaks_of_first_models(self) -> bool:
        return self.spec.spread is not None or (
            self.spec.ratio is not None and self.spec.ratio.speaks_of("last answers")
        )

    def _moments(self) -> list[Vector]:
        """Terms of points, those that are to be used first last."""
        found = [memory("z", 0)] if self.spec.is_lifted else []
        found += [last_answers(0)] if self._speaks_of_first_models else []
        for t in reversed(range(self.question.played)):
            after = server(1) if self.spec.draws.everyone else expected(server(1))
            found += [in_round(t, u) for u in (after, mean(answers), answers)]
        return [*found, server(0), *([minimiser] if self.board.minimiser else [])]

    def _at(self, term: Vector) -> Any:
        t = rounds_ahead(term)
        for _ in range(t):
            term = term.args[0]
        found = self.question.terms.in_round(t, term.args[0] if term.head == "expected" else term)
        return random_vectors.expected(found) if term.head == "expected" else found

    def _point(self, at: Any) -> Vector:
        if at.key in self.known:
            return self.known[at.key]
        found = self.vector(at)
        return minimiser + found if self.board.minimiser else found

    def vector(self, u: Family) -> Vector:
        """The vector in terms of the unknown ones."""
        found: list[tuple[Any, Vector]] = []
        for name in dict.fromkeys(name for _, name in u.parts):
            if name not in self.unknown:
                raise NoLemma(f"{name} is the vector of no term")
            of_mean, of_deviation = (u.parts.get((part, name), ZERO) for part in (MEAN, DEVIATION))
            if name == "w":  # it is shared, and ∇F_k(x*) has mean 0
                of_deviation = of_mean
            found += split(self.unknown[name], of_deviation if name == "g*" else of_mean, of_deviation)
        return combined(found)

    # ---- inequalities

    def inequality(self, name: str) -> Parts:
        """The question's inequality of that name."""
        if name == "dissimilarity":
            return by(Hypothesis(name))
        if name.startswith("inexactness "):
            return by(Hypothesis("inexactness"))
        if name.startswith(LEAST):  # a gradient step from x leads to some z, where F(z) >= inf F
            at = self.points[int(name.removeprefix(f"{LEAST} from "))]
            down = at - mean(gradient(at)) / self.high
            return by(Upper(down, at, self.high)) + by(Infimum(down))
        after, before = (self.points[int(place)] for place in name.split(" from "))
        return interpolation(after, before, self.low, self.high)

    @property
    def of_draws(self) -> Parts:
        """What a question about drawn clients takes for granted: the variance of their average, and with values at
        drawn points the descent lemma.
        """
        spec, total = self.spec, Parts()
        if spec.draws.everyone:
            return total
        if spec.draws.numbers:
            raise NoLemma("proofs about clients who take part by chance are not written out")
        if spec.ratio is not None and not spec.draws.replaced:
            raise NoLemma("proofs about ratios of terms of clients drawn without replacement are not written out")
        if of_values := spec.ratio is None and spec.metric != "distance":
            total += by(Upper(server(1), expected(server(1)), self.high))
        if not spec.draws.replaced:  # of the square of the random part
            share = (self.high / 2 if of_values else ONE) / (spec.draws.K * (spec.draws.clients - 1))
            random = random_vectors.terms_of(self._at(server(1))).get(random_vectors.AVERAGE, Family())
            if random.parts:
                total += Parts(((-share * square(self.vector(random)), Hypothesis("scale")),))
        return total

    # ---- claim and setting

    def claim(self, t: Any) -> Claim:
        """metric ≤ t·N."""
        left, right = self._sides()
        if not self.spec.draws.everyone:
            left, right = expected(left), expected(right)
        left, right = (at_the_end(side, max(self.question.played, 1)) for side in (left, right))
        return at_most(self._with_numbers(left), written(t) * self._with_numbers(right))

    def _sides(self) -> tuple[Number, Number]:
        left, right = self.spec.sides
        if right is START and not self.spec.heterogeneity:
            right = DISTANCE
        return self._averaged() if left is None else left, right

    def _averaged(self) -> Number:
        later = [in_round(t, mean(answers)) for t in range(self.question.played)]
        points, shares = [server(0), *later], [number(share) for share in self.spec.weights]
        if self.spec.metric == "average_gap":
            whole = [share * point for share, point in zip(shares, points, strict=False)]
            return value(sum(whole[1:], start=whole[0])) - value(minimiser)
        gap = self.spec.metric == "mean_gap"
        sizes = [value(x) - value(minimiser) if gap else square(mean(gradient(x))) for x in points]
        found = [share * size for share, size in zip(shares, sizes, strict=False)]
        return sum(found[1:], start=found[0])

    def _with_numbers(self, side: Number) -> Number:
        """The side with the question's numbers in the place of their names; the infimum is the value at a minimiser."""
        for name, x in self.spec.parameters.items():
            side = side.put(parameter(name), written(x))
        return side.put(infimum, value(minimiser)) if self.board.minimiser else side

    @property
    def invariants(self) -> tuple[tuple[str, Vector], ...]:
        """What all states have in common from which the question starts."""
        return (("server", mean(memory("z", 0))),) if self.spec.is_lifted else ()

    def setting(self, conditions: tuple[Condition, ...], example: Mapping[str, Fraction]) -> ClaimSetting:
        """All that the question assumes, of positive parameters that satisfy the conditions."""
        spec, start = self.spec, self.question.terms.first.states[0]
        draws = DrawScheme()
        if not spec.draws.everyone:
            active, clients = number(spec.draws.K), number(spec.draws.clients)
            draws = DrawScheme("independent", active) if spec.draws.replaced else DrawScheme("uniform", active, clients)
        remembers = self.question.played > 1 or (bool(start.shared or start.memory) and not spec.is_lifted)
        return ClaimSetting(
            method=type(spec.method).__name__, method_parameters=self._method_parameters(), conditions=conditions,
            signs=dict.fromkeys(example, "positive"), curvature=(self.low, self.high), draws=draws,
            minimiser=self.board.minimiser, bounded_below=not self.board.minimiser and self._speaks_of_infimum,
            dissimilarity=None if spec.dissimilarity is None else written(spec.dissimilarity),
            starts_at_own_minima=self._speaks_of_first_models, rests=spec.rests, example=dict(example),
            first_round=remembers or self._speaks_of_first_models, **self._answers(),
        )  # fmt: skip

    @property
    def _speaks_of_infimum(self) -> bool:
        return any(part == infimum for side in self._sides() for part in parts(side))

    def _method_parameters(self) -> dict[str, Value]:
        method = self.spec.method
        values = {f.name: getattr(method, f.name) for f in fields(method)}  # type: ignore[arg-type]
        if scheduled := [name for name, x in values.items() if isinstance(x, StepsizeSchedule)]:
            raise NoLemma(f"{scheduled[0]} changes from round to round, and a setting has one number")
        return {name: x if isinstance(x, str | bool | None) else written(x) for name, x in values.items()}

    def _answers(self) -> dict[str, Any]:
        """How clients answer, as fields of a setting."""
        own, solver = in_rationals(self.spec.method.local_solver), self.spec.solver
        if is_scheduled(solver):
            raise NoLemma("the local steps change from round to round, and a setting has one stepsize")
        if solver == own:
            return {}
        if isinstance(solver, ToInexactness):
            return {"answers": "inexact", "inexactness": written(solver.gamma)}
        if isinstance(solver, GradientDescent) and isinstance(own, Exact):
            return {"gradient_steps": {"steps": number(int(solver.steps)), "stepsize": written(solver.stepsize)}}
        raise NoLemma(f"the local solver {solver} is none of a setting")
