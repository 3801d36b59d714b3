"""A round of gradient steps, step by step: what one step does, and what is left to pay from every step on.

With y_i a client's point after i steps, g_i its gradient there (less that at the minimiser), and vectors that do not
change within the round, a step is y_{i+1} = y_i − s·g_i + p, and the next state is made of y_e and vectors that do not
change. Multipliers λ of inequalities between y_i, y_{i+1} and the minimiser then give costs to go

    C_i(y_i, g_i) = max over g_{i+1} of C_{i+1}(y_i − s·g_i + p, g_{i+1}) + Σ λ·(inequalities of step i),

from V(next state) on backwards: V⁺ ≤ C_{e−1}(y_{e−1}, g_{e−1}) ≤ … ≤ C_0(y_0, g_0).
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, final

from fedconvex.arithmetic.rationals import to_fmpq
from fedconvex.local_solvers.gradient_descent import GradientDescent
from fedconvex.proofs_checks.search.lyapunov.posed_round import Pair, Place, PosedRound, pose_round
from fedconvex.proofs_checks.search.rate_theorems.equations import gradients_first
from fedconvex.proofs_checks.search.rate_theorems.rates import NotFound
from fedconvex.proofs_checks.search.rate_theorems.sampled_rounds import CLIENTS, specification
from fedconvex.proofs_checks.worst_cases.programs.quadratic_forms import (
    DEVIATION,
    MEAN,
    ONE,
    ZERO,
    Family,
    Form,
    Indefinite,
    combination,
    eliminated,
    inner,
    square,
    squares,
    value,
)
from fedconvex.proofs_checks.worst_cases.questions.function_classes import interpolation
from fedconvex.proofs_checks.worst_cases.questions.specification import Specification

PARTS = (MEAN, DEVIATION)
FIRST = "first gradient"  # the name of g_0 where later steps use it, too
Multipliers = Mapping[tuple[str, int], Any]  # by the kind of inequality and the step


def every(name: str) -> Family:
    """A vector of every client, in both parts."""
    return Family({(part, name): ONE for part in PARTS})


POINT, SLOPE, NEXT = every("y"), every("g"), every("g next")
HERE, THERE = value("f"), value("f next")


@final
@dataclass(frozen=True, eq=False)
class LocalStep:
    """What a local step does, y ↦ y − size·g + pull, and the round's last point in what is measured after it.

    `measured` has, for every coordinate of the state, the factor of y_e and the vector that is added.
    """

    size: Any
    pull: Family
    start: Family
    measured: Mapping[Place, tuple[Any, Family]]

    @cached_property
    def after(self) -> Family:
        """The point after the step."""
        found: Family = POINT - SLOPE * self.size + self.pull
        return found

    def function(self, entries: Mapping[Pair, Any], spread: bool = False) -> Form:
        """V(next state), in the last step's point and gradient; with `spread` a larger number, in which the squared
        mean of the last points is their mean square.
        """
        known = {place: self.after.only(place[0]) * c + u for place, (c, u) in self.measured.items()}
        forms = [(c if a == b else 2 * c, inner(known[a], known[b])) for (a, b), c in entries.items() if c]
        if spread:
            apart = square(self.after.only(DEVIATION))  # the mean's own coordinate, whose entry is 1
            forms += [(c**2, apart) for place, (c, _) in self.measured.items() if place[0] == MEAN]
        return combination(*forms)


@final
@dataclass(frozen=True, eq=False)
class StepRound:
    """A round of several gradient steps, at numbers or at functions of parameters.

    Raises:
        NotFound: the round is not made of such steps.
    """

    spec: Specification
    posed: PosedRound

    @classmethod
    def at(cls, arguments: Mapping[str, Any]) -> "StepRound":
        """The round with these arguments of `lyapunov`."""
        spec = specification(arguments)
        return cls(spec, pose_round(spec.method, spec.solver, spec.clients, CLIENTS, "neighbours"))

    @property
    def size(self) -> Any:
        """The stepsize."""
        solver = self.spec.solver
        if not isinstance(solver, GradientDescent):
            raise NotFound("clients do not take gradient steps")
        return solver.stepsize

    @property
    def ratio(self) -> Any:
        """q = 1 − sℓ, by which a step contracts the slowest clients' errors."""
        return 1 - self.size * to_fmpq(self.spec.clients.lowest)

    @property
    def count(self) -> int:
        """The number of local steps."""
        return len(self.posed.board.evaluations) - 1

    @cached_property
    def step(self) -> LocalStep:
        """The step, which is the same each time."""
        solver, count = self.spec.solver, self.count
        if not isinstance(solver, GradientDescent) or solver.steps != count:
            raise NotFound("the round is more than local gradient steps, each at a new point")
        points = [e.point for e in self.posed.board.evaluations[1:]]
        gradients = [e.gradient for e in self.posed.board.evaluations[1:]]
        size, last_name = solver.stepsize, f"g{count}"
        pulls = [
            after - before + slope * size for before, after, slope in zip(points, points[1:], gradients, strict=False)
        ]
        if len({u.key for u in pulls}) != 1:
            raise NotFound("local steps differ from one another")
        last: Family = points[-1] - gradients[-1] * size + pulls[0]
        measured = {}
        for place, u in self.posed.after.items():
            part = place[0]
            factor = u.parts.get((part, last_name), ZERO) / -size
            measured[place] = (factor, self._local(u - last.only(part) * factor))
        return LocalStep(size, self._local(pulls[0]), self._local(points[0]), measured)

    def _local(self, u: Family) -> Family:
        """The vector in what does not change within the round; the first gradient gets a name of its own."""
        parts = {(part, FIRST if name == "g1" else name): c for (part, name), c in u.parts.items() if c}
        if any(name[:1] == "g" and name[1:].isdigit() for _, name in parts):
            raise NotFound("the round uses gradients at other points than its first one and its last ones")
        return Family(parts)

    @cached_property
    def inequalities(self) -> dict[str, Form]:
        """Of a step: by their kinds, in its point and gradient and in the next ones."""
        return inequalities(self.step, self.spec.clients.lowest, self.spec.clients.highest)

    def costs(self, entries: Mapping[Pair, Any], multipliers: Multipliers, spread: bool = False) -> list[Form] | None:
        """C_0, …, C_{e−1}; None where a maximum is infinite."""
        forms, cost, found = self.inequalities, self.step.function(entries, spread), []
        for i in reversed(range(self.count)):
            if i < self.count - 1:
                cost = renamed(cost, {"y": self.step.after, "g": NEXT}, {"f": "f next"})
            used = [(c, forms[kind]) for (kind, place), c in multipliers.items() if place == i and c]
            cost = combination((ONE, cost), *used)
            if i < self.count - 1:
                reduced = without(cost, "g next")
                if reduced is None or "f next" in reduced.values:
                    return None
                cost = reduced
            found.append(cost)
        return found[::-1]

    def at_the_start(self, form: Form) -> Form:
        """The form at the first point, in the state and the first gradient."""
        return renamed(form, {"y": self.step.start, "g": every(FIRST)}, {})


def inequalities(step: LocalStep, low: Any, high: Any) -> dict[str, Form]:
    """F(b) − F(a) − ⟨∇F(a), b − a⟩ − ‖∇F(b) − ∇F(a) − ℓ(b − a)‖²/(2(L − ℓ)) − (ℓ/2)‖b − a‖² ≥ 0, "b from a"."""
    low, high = to_fmpq(low), to_fmpq(high)
    points = {"here": (POINT, SLOPE, HERE), "next": (step.after, NEXT, THERE), "rest": (Family(), Family(), Form())}
    found = {}
    for b, a in (("here", "next"), ("next", "here"), ("rest", "here"), ("here", "rest")):
        (one, slope, of_one), (other, bent, of_other) = points[b], points[a]
        found[f"{b} from {a}"] = interpolation(one - other, bent, slope - bent, of_one - of_other, low, high)
    return found


def renamed(form: Form, vectors: Mapping[str, Family], values: Mapping[str, str]) -> Form:
    """The form with other vectors, of the same part, in the place of basic ones, and other names of values."""
    # All at once: the vectors may contain what is replaced.
    marked = {f"{name} old": u for name, u in vectors.items()}
    products: dict[Any, Any] = {}
    for (a, b), c in form.products.items():
        pair = tuple(sorted((part, f"{name} old" if name in vectors else name) for part, name in (a, b)))
        products[pair] = products.get(pair, ZERO) + c
    found = Form(products, {values.get(name, name): c for name, c in form.values.items()})
    for name, u in marked.items():
        for part in PARTS:
            found = found.put((part, name), u.only(part))
    return found


def without(form: Form, name: str) -> Form | None:
    """The form's maximum over a basic vector; None where it is infinite."""
    try:
        return eliminated(form, [(part, name) for part in PARTS])[1]
    except Indefinite:
        return None


def is_semidefinite(form: Form) -> bool:
    """Whether the form, at numbers and without values, is >= 0."""
    if form.values:
        return False
    try:
        return all(weight >= 0 for weight, _ in squares(form, gradients_first))
    except Indefinite:
        return False
