"""Random federations of a setting: parameters in its domain, quadratic clients, draws and answers, all exact.

They include the extremes, where claims break first: curvature at its bounds, identical clients, one client far away,
one client, everyone or one client drawn, answers of the full allowed error.
"""

from collections.abc import Iterator, Mapping
from fractions import Fraction
from itertools import count
from typing import Any

import numpy as np

from fedconvex.arithmetic.definiteness import is_positive_semidefinite
from fedconvex.arithmetic.rationals import Array, root_above, root_below, to_fraction
from fedconvex.claims.claim import Claim, ClaimSetting
from fedconvex.claims.methods import made
from fedconvex.claims.on_runs.admissibility import gap_of, objective_gap_of, offences, rational
from fedconvex.claims.on_runs.choices import Choices
from fedconvex.claims.on_runs.draws import MOST, every_draw
from fedconvex.claims.on_runs.evaluation import number_at
from fedconvex.claims.on_runs.federations import AnswerError, ExactFederation
from fedconvex.claims.on_runs.paths import minimiser_of
from fedconvex.claims.on_runs.random_parameters import NoFederation, parameters_of
from fedconvex.claims.terms import Number, parts
from fedconvex.errors import InvalidInput, NoFixedPoint
from fedconvex.local_solvers.gradient_descent import GradientDescent
from fedconvex.methods import METHODS
from fedconvex.methods.base import Method
from fedconvex.participation import Full, Participation, Uniform, Weighted
from fedconvex.problems.quadratics import Quadratic
from fedconvex.runs.rounds import rounds_of


def random_federations(setting: ClaimSetting, claim: Claim | None = None, seed: Any = 0) -> Iterator[ExactFederation]:
    """Admissible federations without end, the same ones for the same seed. Raises NoFederation if none is found."""
    failures = 0
    for number in count():
        try:
            yield federation_of(setting, claim, Choices(f"{seed}/{number}"))
            failures = 0
        except NoFederation as reason:
            failures += 1
            if failures > 1000:
                raise NoFederation(f"no federation of the setting was found, the last because: {reason}") from None


def federation_of(setting: ClaimSetting, claim: Claim | None, choices: Choices) -> ExactFederation:
    """The federation that the choices lead to, checked against every assumption. Raises NoFederation."""
    try:
        built = _Builder(setting, claim, choices).federation()
        found = offences(setting, built)
    except (InvalidInput, NoFixedPoint, ZeroDivisionError) as error:
        raise NoFederation(str(error)) from None
    if found:
        raise NoFederation("; ".join(found))
    return built


ROOT_UNIT = Fraction(1, 2**12)  # of a root that is irrational
MOST_ROUNDS = 20  # exact numbers grow with every round


class _Builder:
    """Builds one federation, decision by decision."""

    def __init__(self, setting: ClaimSetting, claim: Claim | None, choices: Choices) -> None:
        self.setting, self.claim, self.choices = setting, claim, choices
        self.values = parameters_of(setting, choices, "" if claim is None else claim.rounds)
        self.m = self._number_of_clients()
        self.d = choices.pick((1, 1, 1, 2, 2, 3))
        self.method = self._method()
        self.shares = self.weights = [Fraction(1, self.m)] * self.m if self.method.plain else self._weights()

    def at(self, formula: Number | None) -> Fraction | None:
        return None if formula is None else rational(number_at(formula, self.values))

    def _number_of_clients(self) -> int:
        if self.setting.single_client:
            return 1
        given = self.at(self.setting.draws.clients)
        if given is None:
            given = self.values.get("num_clients")
        if given is not None:
            return int(given)
        drawn = self.at(self.setting.draws.active)
        few = (
            (1,) if drawn is not None and drawn > MOST else (1, 2) if drawn is not None and drawn > 10 else (1, 2, 2, 3)
        )
        return self.choices.pick(few)

    def _method(self) -> Method:
        if not self.setting.method:  # a claim about the functions alone: any method will do
            return METHODS["FedGD"](stepsize=Fraction(1))
        return made(self.setting.method, self.setting.method_at(self.at))

    def _local_solver(self) -> GradientDescent | None:
        """The setting's gradient steps; None where clients have the method's own solver."""
        given = self.setting.gradient_steps
        if not given:
            return None
        steps, stepsize = self.at(given["steps"]), self.at(given["stepsize"])
        if steps is None or steps > MOST_ROUNDS:
            raise NoFederation("too many gradient steps")
        return GradientDescent(steps=int(steps), stepsize=stepsize)

    def _weights(self) -> list[Fraction]:
        """The clients' weights."""
        equal = self.setting.equal_weights
        parts_of = [Fraction(1) if equal else self.choices.between(Fraction(1, 10), 1) for _ in range(self.m)]
        return [part / sum(parts_of) for part in parts_of]

    def _problem(self, H: list[Array], c: list[Array]) -> Quadratic:
        """The problem in which the method's clients have these functions."""
        scales = [self.m * w if self.method.plain else 1 for w in self.weights]
        H, c = ([x / s for x, s in zip(of, scales, strict=True)] for of in (H, c))
        return Quadratic(H, c, self.weights)

    def federation(self) -> ExactFederation:
        if self.claim is not None and self.values.get(self.claim.rounds, 0) > MOST_ROUNDS:
            raise NoFederation("too many rounds")
        H = self._hessians()
        start = self.choices.vector(self.d, 3)
        identical = self.choices.pick((True, False, False, False))
        if identical:
            H = [H[0]] * self.m
        c, models = self._linear_terms(H, np.array(start, dtype=object), identical)
        c = self._closer(H, c, np.array(start, dtype=object))
        c = self._less_apart(H, c)
        problem = self._problem(H, c)
        scheme = self._participation()
        outcomes = every_draw(scheme, problem)
        of_run = self.claim is not None and self.claim.of_run
        rounds = int(self.values.get(self.claim.rounds, self.choices.pick((1, 2, 3)))) if self.claim and of_run else 1
        if not outcomes or rounds > MOST_ROUNDS or len(outcomes) ** rounds > MOST:
            raise NoFederation("no draw is possible, or too many are")
        at_once = of_run or self._assumes_at_point or self.setting.rests or self.setting.first_round
        number = 0 if at_once else self.choices.pick((0, 1, 2, 3))
        earlier = tuple(self.choices.pick(outcomes)[1] for _ in range(number))
        setting = self.setting
        deviations = () if setting.answers == "own" else self._deviations(number + rounds)
        free = self._free()
        if self.method.plain:  # weights are factors of the functions, which may be any of the class before
            self.weights = self._weights()
            problem = self._problem(H, c)
        return ExactFederation(
            problem, self.method, start, scheme, self.values, earlier, rounds, self._local_solver(), setting.answers,
            self.at(setting.inexactness), deviations, models, free, setting.rests,
        )  # fmt: skip

    # ---- the clients' functions ----

    def _hessians(self) -> list[Array]:
        bounds = self.setting.curvature
        if bounds == (None, None):
            bounds = self.setting.objective
        low, high = self.at(bounds[0]), self.at(bounds[1])
        pull = Fraction(self.method.proximal_weight)
        if low is None:
            low = -high if high is not None else -max(pull, Fraction(1)) * Fraction(9, 10)
        if high is None:
            high = max(low, Fraction(0)) + max(pull, Fraction(1)) * 3
        if self.setting.objective_gap is not None:  # no client's function is unbounded below
            low = max(low, Fraction(0))
        if pull and low <= -pull:  # subproblems must be strongly convex
            low = min(-pull * Fraction(99, 100), high)
        H = self._similar([self._hessian(low, high) for _ in range(self.m)])
        if not self.setting.has_minimum:
            return H
        top = high * identity(self.d)
        for part in (Fraction(0), Fraction(1, 4), Fraction(1, 2), Fraction(3, 4), Fraction(1)):
            raised = [h + part * (top - h) for h in H]  # still between low and high
            if is_positive_semidefinite(sum(w * h for w, h in zip(self.shares, raised, strict=True))):
                return raised
        raise NoFederation("the objective is unbounded below")

    def _hessian(self, low: Fraction, high: Fraction) -> Array:
        """QΛQᵀ with eigenvalues in [low, high] and a reflection Q."""
        kinds = [self.choices.pick(("low", "high", "between", "between")) for _ in range(self.d)]
        ends = {"low": low, "high": high}
        values = [ends[kind] if kind in ends else self.choices.between(low, high) for kind in kinds]
        normal = np.array(self.choices.vector(self.d, 2), dtype=object) if self.d > 1 else None
        if normal is None or (square := (normal * normal).sum()) == 0:
            return identity(self.d) * np.array(values, dtype=object)
        Q = identity(self.d) - np.outer(normal, normal) * 2 / square
        found = Q @ (np.array(values, dtype=object)[:, None] * Q)
        return (found + found.T) / 2

    @property
    def _assumes_at_point(self) -> bool:
        s = self.setting
        return s.dissimilarity is not None or s.variance is not None or s.large_gradient is not None

    def _linear_terms(self, H: list[Array], start: Array, identical: bool) -> tuple[list[Array], Any]:
        """The c_k, and the clients' first models."""
        if self._assumes_at_point:
            return [h @ start - g for h, g in zip(H, self._gradients(identical), strict=True)], None
        far = self.choices.pick((Fraction(1), Fraction(1), Fraction(40)))
        points = [np.array(self.choices.vector(self.d, 3), dtype=object) for _ in range(self.m)]
        points[0] = points[0] * far
        points = [points[0]] * self.m if identical else points
        if self.setting.starts_at_own_minima:
            return [h @ x for h, x in zip(H, points, strict=True)], points
        if self.setting.has_minimum:  # the mean of the c_k must be H x* for some x*
            mean = sum(w * h for w, h in zip(self.shares, H, strict=True))
            target = mean @ np.array(self.choices.vector(self.d, 3), dtype=object)
            drift = target - sum(w * c for w, c in zip(self.shares, points, strict=True))
            points = [c + drift for c in points]
        models = self.choices.pick(("server", "any", "any"))
        first = [start if models == "server" else np.array(self.choices.vector(self.d, 3)) for _ in range(self.m)]
        return points, first

    def _closer(self, H: list[Array], c: list[Array], start: Array) -> list[Array]:
        """The same with shorter gradients at the start, where that is too far above the objective's infimum."""
        most = self.at(self.setting.initial_gap)
        if most is None:
            return c
        rounds = rounds_of(self.method, self._problem(H, c), "exact", None)
        gap = rational(gap_of(rounds, rounds.arithmetic.array(start)))
        share = root_below(most / gap, ROOT_UNIT) if gap > most else Fraction(1)
        return [h @ start + share * (linear - h @ start) for h, linear in zip(H, c, strict=True)]

    def _less_apart(self, H: list[Array], c: list[Array]) -> list[Array]:
        """The same with shorter gradients at the minimiser, where its value is farther than Γ above the minima."""
        most = self.at(self.setting.objective_gap)
        if most is None:
            return c
        rounds = rounds_of(self.method, self._problem(H, c), "exact", None)
        found, point = objective_gap_of(rounds), np.array([to_fraction(x) for x in minimiser_of(rounds)], dtype=object)
        gap = None if found is None else rational(found)
        share = Fraction(0) if gap is None else Fraction(1) if gap <= most else root_below(most / gap, ROOT_UNIT)
        return [h @ point + share * (linear - h @ point) for h, linear in zip(H, c, strict=True)]

    def _similar(self, H: list[Array]) -> list[Array]:
        """The Hessians as near to their mean as δ demands; where nothing else bounds them, at times farther apart."""
        most, centre = self.at(self.setting.similarity), sum(w * h for w, h in zip(self.shares, H, strict=True))
        farthest = max(np.abs(h - centre).sum(0).max() for h in H)  # no eigenvalue is larger
        if most is None or not farthest:
            return H
        stretched = self.setting.curvature == (None, None) and self.choices.pick((True, False))
        share = most / farthest if stretched else min(most / farthest, Fraction(1))
        return [centre + share * (h - centre) for h in H]

    def _gradients(self, identical: bool) -> list[Array]:
        """The clients' gradients at the server's point, as dissimilar as the setting allows, or less."""
        s = self.setting
        mean = np.array(self.choices.vector(self.d, 2), dtype=object)
        B, variance, least = self.at(s.dissimilarity), self.at(s.variance), self.at(s.large_gradient)
        if least is not None and (square := (mean * mean).sum()) < least:
            mean = (
                mean * root_above(least / square, ROOT_UNIT) if square else self._unit() * root_above(least, ROOT_UNIT)
            )
        others = [np.array(self.choices.vector(self.d, 2), dtype=object) for _ in range(self.m)]
        centre = sum(w * v for w, v in zip(self.shares, others, strict=True))
        others = [v - centre for v in others]
        spread = sum(w * (v * v).sum() for w, v in zip(self.shares, others, strict=True))
        limits = [] if B is None else [(B * B - 1) * (mean * mean).sum()]
        limits += [] if variance is None else [variance]
        scale = self.choices.pick((Fraction(1), Fraction(1), Fraction(1), Fraction(1, 2)))
        if limits and spread:
            scale *= root_below(min(limits) / spread, ROOT_UNIT)
        return [mean + (0 if identical else scale) * v for v in others]

    def _unit(self) -> Array:
        return identity(self.d)[0]

    # ---- who takes part, and how clients answer ----

    def _participation(self) -> Participation:
        draws = self.setting.draws
        active = self.at(draws.active)
        if draws.scheme == "everyone" or active is None:
            return Full()
        return Uniform(int(active)) if draws.scheme == "uniform" else Weighted(int(active))

    def _deviations(self, rounds: int) -> tuple[tuple[AnswerError, ...], ...]:
        return tuple(tuple(self._deviation() for _ in range(self.m)) for _ in range(rounds))

    def _deviation(self) -> AnswerError:
        size = self.choices.pick((Fraction(1), Fraction(1), Fraction(-1), Fraction(-1), Fraction(1, 2), Fraction(0)))
        return AnswerError(size, tuple(self.choices.vector(self.d, 2)) if self.d > 1 else (Fraction(0),))

    def _free(self) -> Mapping[str, Array]:
        sides = () if self.claim is None else (self.claim.left, self.claim.right)
        used = sorted({(p.head, p.args[0]) for s in sides for p in parts(s) if p.head in ("free", "family")})
        rows = {name: self.m if head == "family" else 1 for head, name in used}
        drawn = {name: [self.choices.vector(self.d, 3) for _ in range(n)] for name, n in rows.items()}
        return {
            name: np.array(drawn[name] if head == "family" else drawn[name][0], dtype=object) for head, name in used
        }


def identity(size: int) -> Array:
    """The identity matrix in Fractions."""
    return np.array([[Fraction(int(i == j)) for j in range(size)] for i in range(size)], dtype=object)
