"""The arguments of `worst_case`, checked once and with every default resolved and every number exact."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import Any, final

from fedconvex import arithmetic as arithmetics
from fedconvex.arithmetic.rationals import to_fraction
from fedconvex.claims.terms import Number
from fedconvex.errors import InvalidInput
from fedconvex.fixed_points.method_analysis import require_linear
from fedconvex.local_solvers.base import LocalSolver
from fedconvex.local_solvers.gradient_descent import GradientDescent
from fedconvex.local_solvers.sgd import SGD
from fedconvex.local_solvers.unequal_steps import RandomSteps, UnequalSteps
from fedconvex.methods.base import Method
from fedconvex.methods.fedsplit import FedSplit
from fedconvex.names import one_of
from fedconvex.parameters import in_rationals, in_round, is_scheduled, require_rounds
from fedconvex.proofs_checks.symbolic.randomness import EVERYONE, Draws, draws_of
from fedconvex.proofs_checks.worst_cases.programs.quadratic_forms import Family
from fedconvex.proofs_checks.worst_cases.questions.function_classes import (
    ClientGroup,
    ClientGroups,
    Differentiable,
    FunctionClass,
    NotSmooth,
    SimilarClients,
    number_of_clients,
)
from fedconvex.proofs_checks.worst_cases.questions.ratios import (
    INITIAL_GAP,
    NAMED,
    SPREAD,
    START,
    Ratio,
    is_about_the_end,
    ratio_of,
    rounds_needed,
)
from fedconvex.proofs_checks.worst_cases.questions.refusals import NotPosed
from fedconvex.validation import instance_of, integer_at_least, is_choice

AVERAGES = ("average_gap", "mean_gap", "mean_gradient_norm")  # metrics of the points of all rounds
MOST_HISTORIES = 64  # of rounds that communicate or do not
WITH_NOISE = ("distance", "gap", "gradient_norm", "average_gap", "mean_gap")
METRICS = ("distance", "lifted_distance", "gap", "gradient_norm", "descent", "bias", "gap_ratio", *AVERAGES)


@final
@dataclass(frozen=True, eq=False)
class Specification:
    """What is measured of which method on which clients; see `worst_case` for the fields.

    `num_clients` is 2 for "any". `solver` is the method's own unless another was given. `draws` is the meaning of
    `participation`, which is kept as given. `weights` are those of the rounds, with sum 1; empty for metrics that do
    not average over rounds.
    """

    method: Method
    solver: LocalSolver
    clients: FunctionClass
    num_clients: int
    rounds: int
    metric: str
    dissimilarity: Fraction | None
    heterogeneity: Fraction
    participation: Any
    draws: Draws
    weights: tuple[Fraction, ...]
    spread: Fraction | None
    ratio: Ratio | None = None  # of two terms; `metric` is then its text
    noise: Fraction | None = None  # the weight of σ², the variance of a client's gradient in local steps
    independent: int = 0  # the number of clients, whose noise is independent; 0 for "any", of which it is not known

    @property
    def is_random(self) -> bool:
        """Whether rounds depend on who takes part, or on whether they communicate."""
        return not self.draws.everyone or bool(self.method.skip != 0)

    @property
    def is_lifted(self) -> bool:
        """Whether FedSplit's z_k are measured, from any start."""
        return self.metric == "lifted_distance"

    @property
    def rests(self) -> bool:
        """Whether the server's point is a fixed point of the round."""
        return self.metric == "bias"

    @property
    def minimiser(self) -> bool:
        """Whether the mean of the clients' functions surely has a minimiser that the metric may refer to."""
        if self.ratio is not None:
            return self.clients.has_minimiser and self.ratio.speaks_of("minimiser", "infimum")
        return self.metric != "descent" and self.clients.has_minimiser

    @property
    def infimum(self) -> bool:
        """Whether the metric refers to the infimum of the mean of the clients' functions."""
        return self.metric == "mean_gradient_norm" if self.ratio is None else self.ratio.speaks_of("infimum")

    @property
    def stationary_models(self) -> bool:
        """Whether the metric refers to points θ_k⁰ with ∇F_k(θ_k⁰) = 0, the clients' answers before the first round."""
        return self.spread is not None if self.ratio is None else self.ratio.speaks_of("last answers")

    @property
    def sides(self) -> tuple[Number | None, Number]:
        """Numerator and denominator as terms; averages with weights of their own are no terms."""
        if self.ratio is not None:
            return self.ratio.sides
        if self.metric in NAMED:
            return NAMED[self.metric]
        if self.metric != "mean_gradient_norm":
            return None, START
        return None, INITIAL_GAP if self.spread is None else INITIAL_GAP + SPREAD

    @cached_property
    def parameters(self) -> dict[str, Any]:
        """The numbers that the terms of named metrics call by name."""
        found = {"heterogeneity": self.heterogeneity, "spread": self.spread}
        if self.is_lifted:
            found["stepsize"] = to_fraction(self.method.stepsize)  # type: ignore[attr-defined]
        return {name: x for name, x in found.items() if x is not None}

    @cached_property
    def needed_rounds(self) -> int:
        """The rounds that the metric needs: the last point of an average is an answer of the round after them."""
        if self.ratio is not None:
            return rounds_needed(self.ratio.sides, self.rounds)
        return self.rounds - (self.metric in AVERAGES)

    @property
    def composable(self) -> bool:
        """Whether a bound for one round holds in every round: nothing is remembered but what the metric measures."""
        if self.method.skip != 0 or self.noise is not None:  # rounds differ in whether they communicate
            return False
        if self.is_lifted:
            return True
        if self.metric != "distance" or self.dissimilarity is not None:
            return False
        return self._forgetful and not (is_scheduled(self.method) or is_scheduled(self.solver))

    @property
    def averaged(self) -> bool:
        """Whether what is asked depends on who takes part by plain averages over the participants alone."""
        return self._forgetful and (self.ratio is None or not self.ratio.speaks_of("last answers"))

    @property
    def _forgetful(self) -> bool:
        state = self.method.initial_state(Family(), lambda row: row)
        return not (state.shared or state.memory)


def specify(
    method: Method,
    clients: FunctionClass,
    num_clients: int | str,
    rounds: int,
    metric: Any,
    dissimilarity: Any,
    heterogeneity: Any,
    local_solver: LocalSolver | None,
    participation: Any = None,
    weights: Any = None,
    spread: Any = None,
    noise: Any = None,
) -> Specification:
    """The checked specification. Raises InvalidInput; see `worst_case`."""
    ratio = None
    num_clients, rounds = number_of_clients(num_clients), integer_at_least(rounds, 1, "rounds")
    if is_choice(metric, ("gap_ratio",)):
        metric = NAMED["gap_ratio"]
    if not isinstance(metric, str):
        ratio, metric = ratio_of(metric), "ratio"
        _check_ratio(ratio, clients, rounds, heterogeneity, spread)
    _check_subject(method, clients, metric)
    count = 2 if isinstance(num_clients, str) else num_clients  # two with opposite deviations stand for any number
    if rounds > 1 and metric == "descent":
        raise InvalidInput("rounds", rounds, "is not possible for descent, which is of one round", "give 1")
    if not clients.of_several and num_clients != 1:
        raise InvalidInput("num_clients", num_clients, f"is not analysed for {type(clients).__name__}: the mean of "
                           "several such functions need not be one", "give 1")  # fmt: skip
    _check_divisor(metric, dissimilarity, heterogeneity)
    shares = _weights(metric, rounds, weights)
    # The first point of an average is deterministic: with one round nobody is drawn before the metric is known.
    draws = EVERYONE if metric in AVERAGES and rounds == 1 else draws_of(participation, num_clients)
    if local_solver is not None:
        instance_of(local_solver, LocalSolver, "local_solver", "a local solver", "give such as fedconvex.Exact()")
    exact = in_rationals(method)  # 1/alpha of an integer is then a fraction
    solver = in_rationals(exact.local_solver if local_solver is None else local_solver)
    require_rounds(method, rounds)
    require_rounds(solver, rounds)
    solver = _noiseless_steps(solver, noise)
    if noise is not None:
        _check_noise(noise, metric, clients, solver, dissimilarity, method)
    if isinstance(solver, RandomSteps):
        raise InvalidInput("local_steps", solver.steps, "are drawn in every round, which is not analysed",
                           "give one number for every client, or one for all")  # fmt: skip
    # SCAFFOLD and FedNova divide by the total length of the local steps.
    if method.needs_path_lengths and not solver.has_path_lengths:
        raise InvalidInput("local_solver", solver, f"takes no steps of known size, by which {type(method).__name__} "
                           "divides", "give GradientDescent(…)")  # fmt: skip
    if isinstance(clients, ClientGroups) and not draws.everyone:
        raise InvalidInput("participation", participation, "is not analysed for client groups", "leave it out")
    if isinstance(solver, UnequalSteps) and not draws.everyone:
        raise InvalidInput("participation", participation, "is not analysed for unequal numbers of local steps",
                           "leave it out, or give one number of steps for all clients")  # fmt: skip
    if spread is not None and not (metric == "mean_gradient_norm" and to_fraction(spread, "spread") >= 0):
        raise InvalidInput("spread", spread, f"has no part in {metric}, or is negative", "leave it out, or give a "
                           "number >= 0 with mean_gradient_norm")  # fmt: skip
    if method.needs_everyone and not draws.everyone:
        raise InvalidInput("participation", participation, f"leaves out clients, of whom {type(method).__name__} needs "
                           "all in every round", "leave it out")  # fmt: skip
    if method.skip != 0 and 2**rounds > MOST_HISTORIES:
        most = MOST_HISTORIES.bit_length() - 1
        raise InvalidInput("rounds", rounds, "leave too many ways to communicate at random", f"give at most {most}")
    if metric == "bias":
        _check_bias(method, solver, draws, rounds, count)
    if metric == "lifted_distance" and not draws.everyone:
        raise InvalidInput("participation", participation, "is not analysed for lifted_distance",
                           'give metric="distance"')  # fmt: skip
    if isinstance(solver, UnequalSteps):
        clients, steps = groups_by_steps(clients, solver.steps, num_clients)
        solver = replace(solver, steps=steps)
    return Specification(
        exact, solver, clients, count, rounds, metric if ratio is None else ratio.text,
        None if dissimilarity is None else to_fraction(dissimilarity), to_fraction(heterogeneity), participation,
        draws, shares, None if spread is None else to_fraction(spread), ratio,
        None if noise is None else to_fraction(noise), 0 if is_choice(num_clients, ("any",)) else count,
    )  # fmt: skip


def _noiseless_steps(solver: LocalSolver, noise: Any) -> LocalSolver:
    """Stochastic gradient steps as the gradient steps to which noise is added. Raises InvalidInput."""
    if not isinstance(solver, SGD):
        return solver
    if noise is None:
        cure = (
            "give noise=1 to worst_case, for unbiased noise, the weight of its variance σ² in the divisor; for steps "
            "along one random sample let every client have one, and give Weighted(1)"
        )
        raise InvalidInput("local_solver", solver, "has noise, of which a class of functions knows no size", cure)
    if solver.steps is None:
        raise InvalidInput("epochs", solver.epochs, "have as many steps as samples decide, which are not known here",
                           "give SGD(steps=…)")  # fmt: skip
    plain = SGD(steps=solver.steps, batch_size=solver.batch_size, stepsize=solver.stepsize)
    if solver != plain:
        raise InvalidInput("local_solver", solver, "has more than steps of one size, which is not analysed with noise",
                           "leave out decay, weight_decay, clip, momentum and within_round")  # fmt: skip
    return GradientDescent(steps=solver.steps, stepsize=solver.stepsize)


def _check_noise(
    noise: Any, metric: str, clients: FunctionClass, solver: LocalSolver, dissimilarity: Any, method: Method
) -> None:
    """Refuses a weight that is not positive, and noise where no divisor has σ², or no step a gradient."""
    if not to_fraction(noise, "noise") > 0:
        raise InvalidInput("noise", noise, "is no weight of the variance σ² in the divisor", "give a number > 0")
    if metric not in WITH_NOISE:
        raise InvalidInput("noise", noise, f"has no part in {metric}", f"give one of {', '.join(WITH_NOISE)}")
    if dissimilarity is not None or isinstance(clients, ClientGroups | SimilarClients) or method.skip != 0:
        raise InvalidInput("noise", noise, "is not analysed with dissimilarity, client groups, similar clients or "
                           "skipped communication", "leave one of them out")  # fmt: skip
    if not isinstance(solver, GradientDescent):
        raise InvalidInput("local_solver", solver, "makes no gradient steps, to which noise belongs",
                           "give GradientDescent(…) or SGD(steps=…)")  # fmt: skip


def _check_bias(method: Method, solver: LocalSolver, draws: Draws, rounds: int, num_clients: int) -> None:
    """Refuses what has no fixed point, or one that more than the server's point makes."""
    if rounds != 1:
        raise InvalidInput("rounds", rounds, "has no part in bias, which is of a fixed point", "leave it out")
    if num_clients == 1:
        raise InvalidInput("num_clients", 1, "leaves no heterogeneity, by which bias is divided", "give 2, 3, … or any")
    if not draws.everyone:
        raise InvalidInput("participation", f"{draws.K} clients", "are drawn, and the round has no fixed point",
                           "leave it out")  # fmt: skip
    if is_scheduled(method) or is_scheduled(solver):
        raise InvalidInput("method", method, "has a schedule, and its rounds no common fixed point", "give numbers")
    state = method.initial_state(Family(), lambda row: row)
    if kept := [*state.shared, *state.memory]:
        raise InvalidInput("method", method, f"keeps {', '.join(kept)} between rounds, and a worst-case bias is that "
                           "of the server's point alone", "give a method without memory, or take "
                           "fedconvex.fixed_point(method, problem)")  # fmt: skip


def _check_ratio(ratio: Ratio, clients: FunctionClass, rounds: Any, heterogeneity: Any, spread: Any) -> None:
    """Refuses a minimiser that need not exist, and the arguments that named metrics have for their divisors."""
    if not clients.has_minimiser and ratio.speaks_of("minimiser"):
        raise InvalidInput("clients", clients, "may have no minimiser, to which the terms refer",
                           "give convex clients, or terms with infimum")  # fmt: skip
    if rounds != 1 and ratio.sums and any(is_about_the_end(side) for side in ratio.sides):
        raise NotPosed("metric", ratio.text, "speaks of time 1 beside sums over the rounds, where it is after a "
                       "round", "give after(…), with time 0, for the end")  # fmt: skip
    for name, given in (("heterogeneity", heterogeneity), ("spread", spread)):
        if given:
            raise InvalidInput(name, given, "has no part in a ratio of terms", "write it into the denominator")


def _check_subject(method: Method, clients: FunctionClass, metric: str) -> None:
    """Refuses methods and classes that are not analysed, alone or with this metric."""
    if not isinstance(method, Method):
        raise InvalidInput("method", method, "is not a method", "give for example fedconvex.FedSplit(stepsize=1)")
    if not isinstance(clients, FunctionClass):
        raise InvalidInput("clients", clients, "is no class of functions", "give SmoothStronglyConvex(mu, L), "
                           "SmoothConvex(L), WeaklyConvex(L_minus, L), Quadratics(mu, L) or SimilarClients(mu, L, "
                           "delta)")  # fmt: skip
    if isinstance(clients, NotSmooth | Differentiable):
        raise InvalidInput("clients", clients, "need not be smooth, which is not analysed", "give a class with an L")
    if method.personal is not None:
        problem = "solves further local problems for personal models, which is not analysed"
        raise InvalidInput("method", method, problem, "give the server's part: FedGD for Ditto, FedProx for pFedMe")
    # A schedule's numbers are known in every round; and of random communication both cases are played.
    require_linear(in_round(in_rationals(method), 0, arithmetics.get("exact")))
    if metric not in (*METRICS, "ratio"):
        raise InvalidInput("metric", metric, "is unknown", one_of(metric, METRICS))
    if metric == "lifted_distance" and not isinstance(method, FedSplit):
        raise InvalidInput("metric", "lifted_distance", f"is for FedSplit, not for {method}", 'give "distance"')
    if metric not in ("descent", "mean_gradient_norm", "ratio") and not clients.has_minimiser:
        raise InvalidInput("clients", clients, f"may have no minimiser, from which {metric} is measured",
                           'give metric="descent" or "mean_gradient_norm", or convex clients')  # fmt: skip


def _check_divisor(metric: str, dissimilarity: Any, heterogeneity: Any) -> None:
    """Refuses B < 1, a negative heterogeneity, and either one with a metric in which it has no part."""
    if dissimilarity is not None and not to_fraction(dissimilarity, "dissimilarity") >= 1:
        raise InvalidInput("dissimilarity", dissimilarity, "is less than 1", "give B >= 1")
    if dissimilarity is not None and metric == "lifted_distance":
        raise InvalidInput("dissimilarity", dissimilarity, "has no part in lifted_distance", "leave it out")
    if not to_fraction(heterogeneity, "heterogeneity") >= 0:
        raise InvalidInput("heterogeneity", heterogeneity, "is negative", "give a number >= 0")
    if dissimilarity is not None and metric == "bias":
        raise InvalidInput("dissimilarity", dissimilarity, "has no part in bias", "leave it out")
    if heterogeneity and metric in ("lifted_distance", "descent", "bias"):
        raise InvalidInput("heterogeneity", heterogeneity, f"has no part in {metric}", "leave it out")


def _weights(metric: str, rounds: int, weights: Any) -> tuple[Fraction, ...]:
    """The rounds' weights, divided by their sum; none for metrics of the last round. Raises InvalidInput."""
    if metric not in AVERAGES:
        if weights is not None:
            raise InvalidInput("weights", weights, f"have no part in {metric}", f"give one of {', '.join(AVERAGES)}")
        return ()
    listed = isinstance(weights, Iterable) and not isinstance(weights, str)
    given = [to_fraction(x, "weights") for x in (weights if listed else [1] * rounds)]
    if not (listed or weights is None) or len(given) != rounds or min(given) < 0 or not any(given):
        raise InvalidInput("weights", weights, f"are not {rounds} numbers >= 0 that are not all 0", "give one a round")
    return tuple(x / sum(given) for x in given)


def groups_by_steps(
    clients: FunctionClass, steps: tuple[int, ...], num_clients: Any
) -> tuple[ClientGroups, tuple[int, ...]]:
    """The clients as groups, and every group's number of steps, the smallest first.

    `steps` has one number for each of `num_clients` clients; for "any" number one for each of equally many clients; for
    `ClientGroups`, whose order stays, one for each group. Raises InvalidInput.
    """
    if isinstance(clients, SimilarClients):
        raise InvalidInput("local_steps", steps, "differ between clients, which is not analysed for similar clients",
                           "give one number for all clients, or another class")  # fmt: skip
    if isinstance(clients, ClientGroups):
        if len(steps) != len(clients.groups):
            raise InvalidInput("local_steps", steps, f"has {len(steps)} numbers for {len(clients.groups)} groups of "
                               "clients", "give one number for every group")  # fmt: skip
        return clients, steps
    if num_clients not in ("any", len(steps)):
        raise InvalidInput("local_steps", steps, f"has {len(steps)} numbers for num_clients = {num_clients}",
                           f'give one for every client, num_clients={len(steps)}, or num_clients="any" for groups of '
                           "equally many clients")  # fmt: skip
    if clients.lowest == clients.highest:
        raise InvalidInput("clients", clients, "have one curvature, which is not analysed for unequal local steps",
                           "give a class with mu < L")  # fmt: skip
    kinds = tuple(sorted(set(steps)))
    shares = [steps.count(n) for n in kinds]
    members = ["any" if num_clients == "any" else share for share in shares]
    made = (ClientGroup(clients, share, count) for share, count in zip(shares, members, strict=True))
    return ClientGroups(*made), kinds
