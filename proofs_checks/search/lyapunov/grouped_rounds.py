"""How fast a method whose clients take unequal numbers of local steps converges on quadratics, exactly."""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any

from fedconvex.arithmetic.linear_systems import invariant, kernel, solution
from fedconvex.arithmetic.rationals import to_fmpq
from fedconvex.local_solvers.unequal_steps import UnequalSteps
from fedconvex.methods.base import Method, State
from fedconvex.proofs_checks.search.lyapunov.coordinates import Coordinates, coordinates
from fedconvex.proofs_checks.search.lyapunov.grouped_federations import (
    InSubgroups,
    SubgroupBoard,
    trial_federations,
    unknown,
    vector,
)
from fedconvex.proofs_checks.search.lyapunov.posed_round import PosedRound
from fedconvex.proofs_checks.search.lyapunov.quadratic_rounds import Attained, spectral_radius_squared
from fedconvex.proofs_checks.search.lyapunov.state_vectors import Groups
from fedconvex.proofs_checks.worst_cases.programs.quadratic_forms import MEAN, ONE, ZERO, Family, Key, Mixture, of_group
from fedconvex.proofs_checks.worst_cases.questions.function_classes import ClientGroups, FunctionClass
from fedconvex.proofs_checks.worst_cases.questions.symbolic_rounds import outcomes


def coordinates_on(
    method: Method, solver: UnequalSteps, functions: FunctionClass, federation: InSubgroups, period: int = 1
) -> Coordinates:
    """The coordinates of the state where the subgroups are single clients."""
    return coordinates(method, federation.solver(solver), federation.functions(functions), 2, period=period)


def attained_by_groups(
    found: Coordinates, solver: UnequalSteps, functions: FunctionClass, federation: InSubgroups
) -> Attained:
    """The linear map of the subgroups' coordinates in one round, for every axis, and its spectral radius."""
    axes, count = federation.axes, len(found.mean.read)
    numbers = [(i, axis) for i in range(count) for axis in axes]
    values = {(MEAN, i): unknown(f"{i}", axes) for i in range(count)}
    board: Any = SubgroupBoard(federation, federation.functions(functions))
    [(_, state)] = outcomes(found.method, federation.solver(solver), board, found.state(values), found.period)
    after = found.of(state)
    matrix = [[after[MEAN, i].parts.get((MEAN, f"{axis} {j}.{other}"), ZERO) for j, other in numbers]
              for i, axis in numbers]  # fmt: skip
    starts = [[row[i] if other == axis else ZERO for i, other in numbers]
              for row in (found.mean.start, *found.mean.by_gradients) for axis in axes]  # fmt: skip
    [reached] = invariant([matrix], starts)[2]
    return Attained(federation, 0, matrix, *spectral_radius_squared(reached), coordinates=found)


def slowest_in_groups(
    method: Method,
    solver: UnequalSteps,
    functions: FunctionClass,
    groups: ClientGroups,
    steps: tuple[int, ...],
    period: int,
) -> list[Attained]:
    """The trial federations with the largest spectral radius: all that share it."""
    known: dict[Any, Coordinates] = {}
    tried = []
    for federation in trial_federations(functions, groups, steps):
        shares = tuple((one.group, one.share) for one in federation.members)
        if shares not in known:
            known[shares] = coordinates_on(method, solver, functions, federation, period)
        tried.append(attained_by_groups(known[shares], solver, functions, federation))
    most = max(one.squared for one in tried)
    return [one for one in tried if one.squared == most]


def vectors_in_groups(posed: PosedRound, one: Attained) -> Iterator[dict[Key, Any]]:
    """The basic vectors of the round from every eigenvector, on every axis: see `attained_vectors`.

    Deviations are those of every group's first subgroup: the second's are a multiple.
    """
    federation, found = one.federation, one.coordinates
    if one.root is None:
        return
    assert isinstance(federation, InSubgroups)
    assert found is not None
    axes, inside = federation.axes, {one.group: one for one in reversed(federation.members)}
    states = list(posed.before.items())[: sum(len(part.read) for part in posed.coordinates.parts)]
    evaluations = posed.board.evaluations
    used = [u for _, u in states]
    used += [of_group(u, one.group) for e in evaluations for u in (e.point, e.gradient) for one in federation.members]
    numbers = {number: i for i, number in enumerate((key, a) for key in sorted({k for u in used for k in u.parts})
                                                    for a in axes)}  # fmt: skip

    def row(terms: Iterable[tuple[Any, Family, int]], factor: Any = ONE) -> list[Any]:
        found = [ZERO] * len(numbers)
        for c, u, axis in terms:
            for key, x in u.parts.items():
                found[numbers[key, axis]] += c * x * (ONE if key[0] == MEAN else factor)
        return found

    rows = []
    for e in evaluations:
        for member in federation.members:
            first, point = inside[member.group], of_group(e.point, member.group)
            factor = ONE if member is first else -to_fmpq(first.share / member.share)
            for a in axes:  # the gradient is the Hessian times the point
                terms = [(-ONE, of_group(e.gradient, member.group), a)]
                rows.append(row([*terms, *((to_fmpq(member.hessian[a][b]), point, b) for b in axes)], factor))
    eigen = [[x - (one.root if i == j else ZERO) for j, x in enumerate(line)] for i, line in enumerate(one.matrix)]
    for entries in kernel(eigen, len(eigen)):
        given = iter(entries)
        values = {(MEAN, i): vector({a: next(given) for a in axes}) for i in range(len(found.mean.read))}
        state = posed.coordinates.of(_in_groups(found.state(values), federation, posed.coordinates.groups))
        right = [state[place].parts.get((place[0], f"{a}"), ZERO) for place, _ in states for a in axes]
        known = [row([(ONE, u, a)]) for _, u in states for a in axes]
        basic = solution([*rows, *known], [ZERO] * len(rows) + right, len(numbers))
        if basic is not None:
            none = {key: ZERO for _, subgradient in posed.board.proximal for key in subgradient.parts}
            for a in axes:
                yield none | {key: basic[i] for (key, axis), i in numbers.items() if axis == a}


def _in_groups(state: State, federation: InSubgroups, groups: Groups) -> State:
    """The subgroups' memories as means of the groups and deviations of their first subgroups."""

    def of(u: Any) -> Mixture:
        found = []
        for k, (share, part, deviates) in enumerate(zip(groups.shares, groups.parts, groups.deviates, strict=True)):
            members = enumerate(federation.members)
            ours = [(to_fmpq(one.share) / share, of_group(u, j)) for j, one in members if one.group == k]
            middle = sum((v * weight for weight, v in ours), start=Family())
            rest = (ours[0][1] - middle).parts if deviates else {}
            found.append(Family({**middle.parts, **{(part, name): c for (_, name), c in rest.items()}}))
        return Mixture(groups.shares, tuple(found))

    return replace(state, memory={name: of(u) for name, u in state.memory.items()})
