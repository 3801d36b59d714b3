"""What fixed points have in common on all kinds of clients: what a method's formulas say, and that it has any."""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, final

import flint
import numpy as np

from fedconvex import arithmetic as arithmetics
from fedconvex.arithmetic.base import Arithmetic
from fedconvex.arithmetic.rationals import Array, to_fmpq, to_fraction
from fedconvex.certainty import Certainty
from fedconvex.errors import InvalidInput
from fedconvex.fixed_points.formulas import RANDOM, Formulas
from fedconvex.fixed_points.linear_forms import ONE, AffineClients, NotAffine, played_on_forms, refusing, terms_of
from fedconvex.fixed_points.one_round import confirm
from fedconvex.fixed_points.unknown_vectors import ClientVectors, UnknownVector
from fedconvex.local_solvers import Exact
from fedconvex.local_solvers.base import SmoothSolver
from fedconvex.methods.averaging import Averaging
from fedconvex.methods.base import Method, State
from fedconvex.parameters import in_rationals, number
from fedconvex.pickled import without_caches
from fedconvex.problems.base import Problem
from fedconvex.problems.composite import parts_of
from fedconvex.runs.rounds import Rounds, rounds_of

CONFIRMED = 300_000  # bits of the numbers in an exact round's products with the H_k, up to which it is played


@dataclass(frozen=True, eq=False)
class MethodAnalysis(ABC):
    """What the fixed points of one method with one local solver have in common on all kinds of clients."""

    method: Method
    problem: Any
    solver: SmoothSolver

    @property
    @abstractmethod
    def unique(self) -> bool | None:
        """Whether there is one fixed point; None where not decided."""

    @property
    @abstractmethod
    def attracting(self) -> bool | None:
        """Whether all starts lead there; None where not decided."""

    def __getstate__(self) -> dict[str, Any]:
        return without_caches(self)

    @cached_property
    def formulas(self) -> Formulas | None:
        """The round on unknown vectors; None where the method's code takes none."""
        try:
            return Formulas.of(self.method, parts_of(self.problem)[0], self.solver)
        except NotAffine:
            return None

    def confirm(self, point: Array, arithmetic: Arithmetic, state: State | None = None, whole: bool = True) -> None:
        """Raises InvalidInput unless rounds of the method's code from the state at rest keep it, `whole` or its point.

        `state` is that state where the formulas do not tell it. Of exact numbers that are long, balls are played: exact
        rounds would take several times as long as the point.
        """
        smooth, term = parts_of(self.problem)
        name = arithmetic.name if arithmetic.certainty is not Certainty.NUMERIC else "float"
        if name == "exact":
            bits = max(int(to_fmpq(value).p).bit_length() for value in point.tolist())
            name = "ball" if bits * smooth.num_clients * smooth.dim**2 > CONFIRMED else name
        rounds = rounds_of(self.method, smooth, name, self.solver, regularizer=term)
        numbers = rounds.arithmetic
        with numbers.context(), np.errstate(all="ignore"):
            point = numbers.array(arithmetic.to_float(point) if name == "float" else point)
            if state is not None:
                state = state.mapped(numbers.array)
            elif self.formulas is not None:  # None of personal models, which the server never sees
                state = self.formulas.state_at(point, rounds)
            first = rounds.start(point)
            if state is None:
                state, whole = first, not (first.shared or first.memory)
            confirm(rounds, state, whole)

    @property
    def shares(self) -> Any:
        """λ (m,) where the fixed points solve Σ_k λ_k(θ_k(w) − w) = 0; else None."""
        return None if self.formulas is None else self.formulas.shares

    @property
    def is_step(self) -> bool:
        """Whether that sum is by how much a round moves w, whatever else the method keeps."""
        return self.formulas is not None and self.formulas.step is not None

    @cached_property
    def pull(self) -> Any:
        """λ where the fixed points are the stationary points of f + (λ/2)‖· − x⁽¹⁾‖², x⁽¹⁾ the start; else None."""
        found = None if self.formulas is None else self.formulas.stationary(self.solver, self.problem)
        return None if found is None or self.shares is not None else found.pull

    @property
    def relaxation(self) -> Any:
        """That of the operator splitting of which the rounds consist, with exact local solutions; else None."""
        centres = self.formulas.centres if self.formulas is not None and isinstance(self.solver, Exact) else None
        return None if centres is None or self.pull != 0 else centres.relaxation


@final
@dataclass(frozen=True, kw_only=True)
class AveragedAnswers(Averaging):
    """w ← Σ_k shares_k θ_k(w): the linear method that rests where another one of these answers does."""

    of: Method
    shares: tuple[Fraction, ...]
    local_solver: Any = None
    proximal_weight: Any = number(default=0)
    is_proximal: bool = False

    def scale(self, problem: Problem) -> tuple[Fraction, ...] | None:
        return self.of.scale(problem)

    def average_weights(self, problem: Problem) -> tuple[Fraction, ...]:
        return self.shares

    @staticmethod
    def like(method: Method, problem: Problem, solver: SmoothSolver) -> "AveragedAnswers | None":
        """The method with the fixed points of one that is not linear; None where its formulas tell none."""
        try:
            found = Formulas.of(method, problem, solver, linear=False)
        except NotAffine:  # or bad input, which is refused later, by its name
            return None
        if not found.beyond_linear or found.shares is None:
            return None
        shares, weight = tuple(map(to_fraction, found.shares)), method.proximal_weight
        return AveragedAnswers(
            of=method, shares=shares, local_solver=solver, proximal_weight=weight, is_proximal=bool(weight)
        )


def require_affine(method: Method, problem: Problem, solver: SmoothSolver) -> None:
    """Raises InvalidInput unless rounds are affine in the state, the answers and the gradients."""
    try:
        Formulas.of(method, problem, solver)
    except NotAffine:  # the code takes no unknown vectors, but perhaps single numbers
        exact, m, images = arithmetics.get("exact"), problem.num_clients, []
        with refusing(method):
            for _ in range(2):
                clients = AffineClients(exact, m, problem.dim)
                rounds = Rounds(in_rationals(method), in_rationals(solver), problem, clients, exact)
                images.append([terms_of(form) for form in played_on_forms(rounds)[1]])
            if images[0] != images[1]:
                raise NotAffine(RANDOM) from None


def require_linear(method: Method, anywhere: bool = True) -> None:
    """Raises InvalidInput where a method's code takes no unknown vectors, or not the same `anywhere`."""
    steps = ClientVectors([UnknownVector({ONE: flint.fmpq(1)})])
    with refusing(method):
        found = Formulas(method, np.array([flint.fmpq(1, 2)] * 2), (np.arange(2),), steps, compressed=[])
        if found.beyond_linear:
            raise NotAffine(found.beyond_linear)
    if anywhere and not found.moves_with_the_origin:
        problem = "has rounds that do not move with the origin, where worst cases put the minimiser"
        raise InvalidInput("method", method, problem, "write its update with differences from the server's point")
