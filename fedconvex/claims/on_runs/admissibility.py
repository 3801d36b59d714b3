"""Whether a federation satisfies a setting: every assumption decided exactly, so that a counterexample is one."""

from collections.abc import Iterator, Mapping
from fractions import Fraction
from functools import partial
from math import inf
from typing import TYPE_CHECKING, Any

import numpy as np

from fedconvex.arithmetic.definiteness import is_positive_semidefinite, lies_between
from fedconvex.arithmetic.rationals import Array, to_fmpq, to_fraction
from fedconvex.claims.display.letters import Display
from fedconvex.claims.on_runs.conduct import Conduct, conduct_offences
from fedconvex.claims.on_runs.draws import every_draw
from fedconvex.claims.on_runs.evaluation import NotOnThisRun, number_at
from fedconvex.claims.on_runs.federations import ExactFederation
from fedconvex.claims.on_runs.paths import everywhere, minimiser_of, stationary_point
from fedconvex.participation import Draw
from fedconvex.problems.quadratics import QuadraticClients, QuadraticProblem
from fedconvex.runs.rounds import Rounds

if TYPE_CHECKING:
    from fedconvex.claims.claim import ClaimSetting


def offences(setting: "ClaimSetting", federation: ExactFederation) -> list[str]:
    """Every assumption of the setting that the federation is not proved to satisfy; empty where it satisfies all.

    Each begins with the field of the setting that has the assumption, as in "equal_weights: …".
    """
    found = [*_parameters(setting, federation.parameters)]
    if found:  # the other assumptions are about these numbers
        return found
    return [*_run(setting, federation), *_functions(setting, federation), *_points(setting, federation)]


def holds(left: Any, relation: str, right: Any) -> bool:
    """Whether the relation between two exact numbers or balls is proved."""
    return bool(left >= right if relation == ">=" else left > right if relation == ">" else left == right)


def _parameters(setting: "ClaimSetting", values: Mapping[str, Fraction]) -> Iterator[str]:
    for name, sign in setting.signs.items():
        if name not in values:
            yield f"signs: {name} has no value"
        elif (sign == "positive" and values[name] <= 0) or (sign == "nonnegative" and values[name] < 0):
            yield f"signs: {name} = {values[name]} is not {sign}"
        elif name in setting.counts and (values[name].denominator != 1 or values[name] < 1):
            yield f"counts: {name} = {values[name]} is no count"
    for left, relation, right in setting.conditions:
        try:
            if not holds(number_at(left, values), relation, number_at(right, values)):
                words = (Display.standard(setting.signs).text(side) for side in (left, right))
                yield f"conditions: {f' {relation} '.join(words)} does not hold"
        except NotOnThisRun as error:
            yield f"conditions: {error}"


def _run(setting: "ClaimSetting", federation: ExactFederation) -> Iterator[str]:
    values, problem = federation.parameters, federation.problem
    own = federation.method.local_solver if federation.local_solver is None else federation.local_solver
    at = Conduct(problem, federation.method, federation.participation, own)
    yield from conduct_offences(setting, at, partial(number_at, parameters=values), _is_same)
    if setting.answers != federation.answers:
        yield f"answers: they are {federation.answers}, not {setting.answers}"
    elif setting.inexactness is not None and not (
        federation.inexactness is not None
        and _is_same(number_at(setting.inexactness, values), federation.inexactness)
    ):  # fmt: skip
        yield "inexactness: it is not the setting's"
    possible = every_draw(federation.participation, problem) or []
    if not possible:
        yield "draws: no draw is possible, or too many are"
    members = {None if d.members is None else tuple(d.members) for _, d in possible}
    if any((None if d.members is None else tuple(d.members)) not in members for d in federation.earlier):
        yield "draws: an earlier draw is impossible"


def _is_same(assumed: Any, number: Any) -> bool:
    return holds(assumed, "=", to_fmpq(number))


def _functions(setting: "ClaimSetting", federation: ExactFederation) -> Iterator[str]:
    problem, values = federation.problem, federation.parameters
    clients = federation.player.rounds.clients
    assert isinstance(problem, QuadraticProblem)
    assert isinstance(clients, QuadraticClients)
    hessians = [fractions_of(H) for H in clients.H]
    mean = fractions_of(problem.weighted_hessian("exact"))
    for name, bounds, matrices in (
        ("curvature", setting.curvature, hessians),
        ("objective", setting.objective, [mean]),
    ):
        low, high = (None if bound is None else rational(number_at(bound, values)) for bound in bounds)
        for k, H in enumerate(matrices):
            if low is not None and not lies_between(H, low, inf):
                yield f"{name}: function {k} has a curvature below {low}"
            if high is not None and not lies_between(H, -inf, high):
                yield f"{name}: function {k} has a curvature above {high}"
    if setting.similarity is not None:
        room = rational(number_at(setting.similarity, values))
        for k, H in enumerate(hessians):
            if not lies_between(H - mean, -room, room):
                yield f"similarity: client {k}'s Hessian is farther from the objective's"
    if setting.has_minimum:
        name = "minimiser" if setting.minimiser else "bounded_below"
        if not is_positive_semidefinite(mean):
            yield f"{name}: the objective is unbounded below"
        try:
            minimiser_of(federation.player.rounds)
        except NotOnThisRun as error:
            yield f"{name}: {error}"


def _points(setting: "ClaimSetting", federation: ExactFederation) -> Iterator[str]:
    rounds, values = federation.player.rounds, federation.parameters
    if setting.starts_at_own_minima:
        models = federation.first_models
        if models is None or any(x != 0 for x in rounds.clients.gradients(rounds.arithmetic.array(models)).ravel()):
            yield "starts_at_own_minima: a client's first model is no stationary point of its function"
    if setting.first_round and federation.earlier:
        yield "first_round: the round is not the first one"
    if setting.rests:
        before = federation.moments[-1]
        after = federation.player.after(before, Draw(), len(federation.earlier))[0]
        if any(x != 0 for x in after.state.flat() - before.state.flat()):
            yield "rests: the state is no fixed point"
    if setting.initial_gap is not None:
        gap = gap_of(rounds, federation.moments[0].state.server)
        if not holds(number_at(setting.initial_gap, values), ">=", gap):
            yield "initial_gap: the objective at the start is too far above its infimum"
    if setting.objective_gap is not None:
        gap = objective_gap_of(rounds)
        if gap is None or not holds(number_at(setting.objective_gap, values), ">=", gap):
            yield "objective_gap: the objective's infimum is farther above the mean of the clients'"
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


def _gradients(setting: "ClaimSetting", federation: ExactFederation, server: Array) -> Iterator[str]:
    rounds, values = federation.player.rounds, federation.parameters
    gradients = rounds.clients.gradients(server)
    mean = np.dot(rounds.weights, gradients)
    square, squares = (mean * mean).sum(), np.dot(rounds.weights, (gradients * gradients).sum(-1))
    if setting.dissimilarity is not None:
        B = number_at(setting.dissimilarity, values)
        if not holds(B * B * square, ">=", squares):
            yield "dissimilarity: the clients are more dissimilar than B"
    if setting.variance is not None and not holds(number_at(setting.variance, values), ">=", squares - square):
        yield "variance: it is larger"
    if setting.large_gradient is not None and not holds(square, ">=", number_at(setting.large_gradient, values)):
        yield "large_gradient: the gradient is smaller"


def fractions_of(matrix: Any) -> Array:
    """A flint matrix as an array of Fractions."""
    rows, columns = matrix.nrows(), matrix.ncols()
    return np.array([[to_fraction(matrix[i, j]) for j in range(columns)] for i in range(rows)], dtype=object)


def rational(value: Any) -> Fraction:
    """A rational number as a Fraction. Raises NotOnThisRun for balls."""
    if type(value).__name__ == "arb":
        raise NotOnThisRun("formula", value, "is not a rational number here", "give other parameters")
    return to_fraction(value)
