"""The coordinates of a method's state: invariants, what is forgotten, and where a method rests."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction as F
from typing import Any

import pytest

import fedconvex as fc
from fedconvex.arithmetic.rationals import to_fmpq
from fedconvex.errors import InvalidInput
from fedconvex.methods.base import Method, State
from fedconvex.parameters import in_rationals
from fedconvex.proofs_checks import SmoothStronglyConvex, lyapunov
from fedconvex.proofs_checks.search.lyapunov.coordinates import coordinates
from fedconvex.proofs_checks.search.lyapunov.posed_round import VALUE, pose_round

CLASS = SmoothStronglyConvex(1, 4)


def names(method, solver=None, clients=2):
    solver = method.local_solver if solver is None else solver
    found = coordinates(in_rationals(method), in_rationals(solver), CLASS, clients)
    return found.mean.names, found.deviation.names


@pytest.mark.parametrize(
    ("method", "solver", "mean", "deviation"),
    [
        (fc.FedGD(stepsize=1), None, ("server",), ()),
        (fc.DANE(mu=1), None, ("server",), ()),
        (fc.Scaffold(stepsize=1, local_steps=2), None, ("server",), ("c_k",)),  # c is the mean of the c_k
        (fc.FedDyn(alpha=2), None, ("server + 1/2·server's h",), ("gradient_k",)),  # Douglas and Rachford's variable
        (fc.FedPD(eta=F(1, 2)), None, ("server − 1/2·dual_k",), ("dual_k",)),  # anchor and answer are not used
        (fc.FedDyn(alpha=2), fc.GradientDescent(steps=1, stepsize=1), ("server", "server's h"), ("gradient_k",)),
        (fc.FedDynOneGD(alpha=2), None, ("server", "server's h"), ()),  # the step forgets its own gradient
        (fc.FedSplit(stepsize=1), None, ("server",), ("z_k",)),  # the server's point is the mean of the z_k
    ],
)
def test_the_coordinates_of_methods(method, solver, mean, deviation):
    assert names(method, solver) == (mean, deviation)


def test_a_single_client_has_no_deviation():
    assert names(fc.Scaffold(stepsize=1, local_steps=2), clients=1) == (("server",), ())


@dataclass(frozen=True, kw_only=True)
class Changed(Method):
    """SCAFFOLD whose server keeps `factor` times the mean of the c_k, or whose clients ignore it."""

    factor: Any = F(1)
    ignored: bool = False
    plain = True

    @property
    def original(self) -> Any:
        return fc.Scaffold(stepsize=F(1, 4), local_steps=2)

    @property
    def local_solver(self) -> Any:
        return self.original.local_solver

    def initial_state(self, server: Any, repeat: Callable[[Any], Any]) -> State:
        return self.original.initial_state(server, repeat)

    def subproblem(self, state: State, cohort: Any) -> Any:
        memory = {"c": 0 * state.memory["c"]} if self.ignored else state.memory
        return self.original.subproblem(State(state.server, state.shared, memory), cohort)

    def update(self, state: State, cohort: Any, answers: Any) -> State:
        after = self.original.update(state, cohort, answers)
        return State(after.server, {"c": self.factor * after.shared["c"]}, after.memory)


def test_a_method_whose_memory_has_another_invariant_gets_other_coordinates_and_another_rate():
    right, wrong = Changed(), Changed(factor=F(3, 2))
    assert names(right) == names(right.original)
    assert names(wrong) != names(right.original)
    found, other = lyapunov(right, CLASS), lyapunov(wrong, CLASS)
    assert found.upper == lyapunov(right.original, CLASS).upper
    assert other.upper > found.upper
    with pytest.raises(ValueError, match="no Lyapunov function"):  # the proof of one is none of the other
        replace(found.function, posed=other.function.posed)


def test_a_proof_about_a_method_is_none_about_another_with_the_same_coordinates():
    slow, fast = (lyapunov(fc.Scaffold(stepsize=s, local_steps=2), CLASS) for s in (F(1, 8), F(1, 4)))
    with pytest.raises(ValueError, match="no proof"):
        replace(fast.function, posed=slow.function.posed)


def test_a_method_whose_memory_does_not_remove_the_bias_is_refused():
    with pytest.raises(InvalidInput, match="has a biased fixed point"):
        lyapunov(Changed(ignored=True), CLASS)


def test_the_start_of_a_run_in_coordinates():
    """Where a run starts: at any point of the server, with memories that miss the gradients at the minimiser."""
    method, solver = in_rationals(fc.FedGD(stepsize=F(1, 4))), in_rationals(fc.FedGD(stepsize=F(1, 4)).local_solver)
    found = coordinates(method, solver, CLASS, 2)
    assert found.mean.start == [1]
    assert found.deviation.start == []
    splitting = in_rationals(fc.FedSplit(stepsize=F(1, 2)))
    assert coordinates(splitting, splitting.local_solver, CLASS, 2).deviation.start == [to_fmpq(F(1, 2))]


def test_the_map_is_restricted_to_what_the_starts_reach():
    from flint import fmpq

    from fedconvex.arithmetic.linear_systems import invariant

    rows = [[fmpq(1, 2), fmpq(0), fmpq(1)], [fmpq(0), fmpq(3), fmpq(0)], [fmpq(0), fmpq(0), fmpq(1, 4)]]
    basis, pivots, [one] = invariant([rows], [[fmpq(1), fmpq(0), fmpq(0)], [fmpq(0), fmpq(0), fmpq(1)]])
    assert pivots == [0, 2]
    assert one == [[fmpq(1, 2), 1], [0, fmpq(1, 4)]]
    assert basis == [[1, 0, 0], [0, 0, 1]]


def test_gradients_are_measured_also_where_a_round_begins_at_a_point_of_the_round_before():
    """A single client of DANE with mu = 0 goes to where the next round begins: its point 1 is point 2 of this round."""
    two, one = in_rationals(fc.DANE(mu=1)), in_rationals(fc.DANE(mu=0, eta=F(1, 2)))
    squared = [part for part, _ in pose_round(two, two.local_solver, CLASS, 2, history=1).names if part != VALUE]
    assert len(squared) == 1 + 2 * 2
    posed = pose_round(one, one.local_solver, CLASS, 1, history=1)
    assert list(posed.names.values())[:3] == ["server", "gradient at point 1", "gradient at point 2"]
    assert len(posed.board.evaluations) == 1 + 3
    first, second = posed.values
    assert first[1].values == second[0].values
