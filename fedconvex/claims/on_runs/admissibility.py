"""Whether a federation satisfies a setting: every assumption decided exactly, so that a counterexample is one."""

from collections.abc import Iterator, Mapping
from fractions import Fraction
from typing import Any

import numpy as np

from fedconvex.arithmetic.definiteness import is_positive_semidefinite
from fedconvex.arithmetic.rationals import Array, to_fmpq, to_fraction
from fedconvex.claims.claim import ClaimSetting
from fedconvex.claims.on_runs.draws import every_draw
from fedconvex.claims.on_runs.evaluation import NotOnThisRun, number_at
from fedconvex.claims.on_runs.federations import ExactFederation
from fedconvex.claims.on_runs.paths import everywhere, minimiser_of, stationary_point
from fedconvex.claims.terms import Number
from fedconvex.local_solvers.gradient_descent import GradientDescent
from fedconvex.methods import METHODS
from fedconvex.participation import Draw, Full, Uniform, Weighted
from fedconvex.problems.quadratics import QuadraticClients, QuadraticProblem
from fedconvex.runs.rounds import Rounds


def offences(setting: ClaimSetting, federation: ExactFederation) -> list[str]:
    """Every assumption of the setting that the federation is not proved to satisfy; empty where it satisfies all."""
    found = [*_parameters(setting, federation.parameters)]
    if found:  # the other assumptions are about these numbers
        return found
    return [*_run(setting, federation), *_functions(setting, federation), *_points(setting, federation)]


def holds(left: Any, relation: str, right: Any) -> bool:
    """Whether the relation between two exact numbers or balls is proved."""
    return bool(left >= right if relation == ">=" else left > right if relation == ">" else left == right)


def _parameters(setting: ClaimSetting, values: Mapping[str, Fraction]) -> Iterator[str]:
    for name, sign in setting.signs.items():
        if name not in values:
            yield f"{name} has no value"
        elif (sign == "positive" and values[name] <= 0) or (sign == "nonnegative" and values[name] < 0):
            yield f"{name} = {values[name]} is not {sign}"
        elif name in setting.counts and (values[name].denominator != 1 or values[name] < 1):
            yield f"{name} = {values[name]} is no count"
    for left, relation, right in setting.conditions:
        try:
            if not holds(number_at(left, values), relation, number_at(right, values)):
                yield f"not {relation}: {left} and {right}"
        except NotOnThisRun as error:
            yield str(error)


def _run(setting: ClaimSetting, federation: ExactFederation) -> Iterator[str]:
    values, m = federation.parameters, federation.problem.num_clients
    if setting.method and type(federation.method) is not METHODS[setting.method]:
        yield f"the method is not {setting.method}"
        return
    if isinstance(getattr(federation.method, "local_steps", 1), tuple):
        yield "the clients take different numbers of local steps"
        return
    for name, formula in setting.method_parameters.items():
        if not holds(number_at(formula, values), "=", to_fmpq(getattr(federation.method, name))):
            yield f"the method's {name} is not the setting's"
    yield from _solver(setting, federation)
    if setting.answers != federation.answers:
        yield f"the answers are not {setting.answers}"
    elif setting.inexactness is not None and not _equals(setting.inexactness, values, federation.inexactness):
        yield "the inexactness is not the setting's"
    draws, scheme = setting.draws, federation.participation
    kind = {"everyone": Full, "uniform": Uniform, "independent": Weighted}[draws.scheme]
    if type(scheme) is not kind:
        yield f"not {draws.scheme} takes part"
    elif draws.active is not None and not _equals(draws.active, values, scheme.K):
        yield "the number of drawn clients is not the setting's"
    if draws.clients is not None and not _equals(draws.clients, values, m):
        yield "the number of clients is not the setting's"
    if setting.single_client and m != 1:
        yield "there is more than one client"
    possible = every_draw(scheme, federation.problem) or []
    if not possible:
        yield "no draw is possible, or too many are"
    members = {None if d.members is None else tuple(d.members) for _, d in possible}
    if any((None if d.members is None else tuple(d.members)) not in members for d in federation.earlier):
        yield "an earlier draw is impossible"


def _solver(setting: ClaimSetting, federation: ExactFederation) -> Iterator[str]:
    solver, values, given = federation.local_solver, federation.parameters, setting.gradient_steps
    if not given:
        if solver is not None:
            yield "the local solver is not the method's own"
    elif not isinstance(solver, GradientDescent):
        yield "the local solver is not gradient descent"
    elif not (_equals(given["steps"], values, solver.steps) and _equals(given["stepsize"], values, solver.stepsize)):
        yield "the gradient steps are not the setting's"


def _equals(formula: Number, values: Mapping[str, Fraction], number: Any) -> bool:
    return number is not None and holds(number_at(formula, values), "=", to_fmpq(number))


def _functions(setting: ClaimSetting, federation: ExactFederation) -> Iterator[str]:
    problem, values = federation.problem, federation.parameters
    clients = federation.player.rounds.clients
    assert isinstance(problem, QuadraticProblem)
    assert isinstance(clients, QuadraticClients)
    hessians = [fractions_of(H) for H in clients.H]
    mean = fractions_of(problem.weighted_hessian("exact"))
    for name, bounds, matrices in (("client", setting.curvature, hessians), ("objective", setting.objective, [mean])):
        low, high = (None if bound is None else rational(number_at(bound, values)) for bound in bounds)
        identity = np.array([[Fraction(int(i == j)) for j in range(problem.dim)] for i in range(problem.dim)])
        for k, H in enumerate(matrices):
            if low is not None and not is_positive_semidefinite(H - low * identity):
                yield f"{name} {k} has a curvature below {low}"
            if high is not None and not is_positive_semidefinite(high * identity - H):
                yield f"{name} {k} has a curvature above {high}"
    if setting.similarity is not None:
        room = rational(number_at(setting.similarity, values)) * identity
        pairs = [(k, sign * (H - mean)) for k, H in enumerate(hessians) for sign in (1, -1)]
        for k in dict.fromkeys(k for k, apart in pairs if not is_positive_semidefinite(room + apart)):
            yield f"client {k}'s Hessian is farther from the objective's"
    if setting.has_minimum:
        if not is_positive_semidefinite(mean):
            yield "the objective is unbounded below"
        try:
            minimiser_of(federation.player.rounds)
        except NotOnThisRun as error:
            yield str(error)


def _points(setting: ClaimSetting, federation: ExactFederation) -> Iterator[str]:
    rounds, values = federation.player.rounds, federation.parameters
    if setting.starts_at_own_minima:
        models = federation.first_models
        if models is None or any(x != 0 for x in rounds.clients.gradients(rounds.arithmetic.array(models)).ravel()):
            yield "a client's first model is no stationary point of its function"
    if setting.first_round and federation.earlier:
        yield "the round is not the first one"
    if setting.rests:
        before = federation.moments[-1]
        after = federation.player.after(before, Draw(), len(federation.earlier))[0]
        if any(x != 0 for x in after.state.flat() - before.state.flat()):
            yield "the state is no fixed point"
    if setting.initial_gap is not None:
        gap = gap_of(rounds, federation.moments[0].state.server)
        if not holds(number_at(setting.initial_gap, values), ">=", gap):
            yield "the objective at the start is too far above its infimum"
    if setting.objective_gap is not None:
        gap = objective_gap_of(rounds)
        if gap is None or not holds(number_at(setting.objective_gap, values), ">=", gap):
            yield "the objective's infimum is farther above the mean of the clients'"
    if setting.dissimilarity is None and setting.variance is None and setting.large_gradient is None:
        return
    for server in _servers(federation):
        yield from _gradients(setting, federation, server)


def objective_gap_of(rounds: Rounds) -> Any:
    """f_* − mean_k inf F_k, exactly; None where a client's function is unbounded below."""
    clients = rounds.clients
    assert isinstance(clients, QuadraticClients)
    if not all(is_positive_semidefinite(fractions_of(H)) for H in clients.H):
        return None
    found = (stationary_point(H.tolist(), c) for H, c in zip(clients.H, clients.c, strict=True))
    own = [x for x in found if x is not None]
    if len(own) < clients.num_clients:
        return None
    return np.dot(rounds.weights, clients.values(minimiser_of(rounds)) - clients.values(np.stack(own)))


def gap_of(rounds: Rounds, point: Array) -> Any:
    """f − f_* at the point. Raises NotOnThisRun where f has no minimiser."""
    values = rounds.clients.values
    return np.dot(rounds.weights, values(point) - values(minimiser_of(rounds)))


def _servers(federation: ExactFederation) -> Iterator[Array]:
    """The server's points before the round that is looked at, and before the further ones of a run, for all draws."""
    begun = federation.moments[-1]
    yield begun.state.server
    if federation.rounds > 1:
        outcomes = every_draw(federation.participation, federation.problem) or []
        earlier = len(federation.earlier)
        for path in federation.player.paths(begun, everywhere(outcomes), earlier, federation.rounds - 1):
            yield from (moment.state.server for moment in path.moments[1:])


def _gradients(setting: ClaimSetting, federation: ExactFederation, server: Array) -> Iterator[str]:
    rounds, values = federation.player.rounds, federation.parameters
    gradients = rounds.clients.gradients(server)
    mean = np.dot(rounds.weights, gradients)
    square, squares = (mean * mean).sum(), np.dot(rounds.weights, (gradients * gradients).sum(-1))
    if setting.dissimilarity is not None:
        B = number_at(setting.dissimilarity, values)
        if not holds(B * B * square, ">=", squares):
            yield "the clients are more dissimilar than B"
    if setting.variance is not None and not holds(number_at(setting.variance, values), ">=", squares - square):
        yield "the variance is larger"
    if setting.large_gradient is not None and not holds(square, ">=", number_at(setting.large_gradient, values)):
        yield "the gradient is smaller"


def fractions_of(matrix: Any) -> Array:
    """A flint matrix as an array of Fractions."""
    rows, columns = matrix.nrows(), matrix.ncols()
    return np.array([[to_fraction(matrix[i, j]) for j in range(columns)] for i in range(rows)], dtype=object)


def rational(value: Any) -> Fraction:
    """A rational number as a Fraction. Raises NotOnThisRun for balls."""
    if type(value).__name__ == "arb":
        raise NotOnThisRun("formula", value, "is not a rational number here", "give other parameters")
    return to_fraction(value)
