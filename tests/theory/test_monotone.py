"""Whether each bound increases or decreases in each parameter: decided in balls, on random rational arguments."""

from fractions import Fraction

import flint
import pytest
from hypothesis import given
from hypothesis import strategies as st
from statement_makers import arguments, ball, calculators, each

from fedconvex.statements.results import parts
from fedconvex.theory import fedprox

UP, DOWN = 1, -1
FORMULAS = calculators()

# What more of a parameter does to the value, all else equal.
MOVES: dict[str, dict[str, int]] = {
    "fedprox.theorem4": {"L": DOWN, "L_minus": DOWN, "B": DOWN, "gamma": DOWN, "K": UP},
    "fedprox.theorem11": {"L": DOWN, "L_minus": DOWN, "sigma2": DOWN, "epsilon": UP, "gamma": DOWN, "K": UP},
    "fedprox.slack": {"B": DOWN, "gamma": DOWN, "K": UP},
    "fedprox.theorem6": {"delta": UP, "rho": DOWN, "epsilon": DOWN},
    "fedprox.corollary10": {"sigma2": UP, "epsilon": DOWN},
    "fedprox.remark8": {"L": UP, "delta": UP, "sigma2": UP, "epsilon": DOWN},
    "fedprox.equation14": {"mu": DOWN, "L": UP, "L_minus": UP, "B": UP, "gamma": UP, "K": DOWN, "gradient": UP},
    "fedsplit.contraction": {"kappa": UP},
    "fedsplit.theorem1": {"t": DOWN, "kappa": UP, "initial_distance": UP, "num_clients": DOWN, "b": UP},
    "fedsplit.corollary1": {"kappa": UP, "local_steps": DOWN, "start_distance": UP},
    "fedsplit.theorem2": {"L": UP, "squared_distance": UP, "epsilon": DOWN},
    "feddyn.theorem2": {"num_clients": UP, "num_active": DOWN, "T": DOWN, "D0": UP, "G": UP},
    "feddyn.theorem3": {"mu": DOWN, "num_clients": UP, "num_active": DOWN, "T": DOWN, "D0": UP, "G": UP},
    "feddyn.theorem4": {"L": UP, "num_clients": UP, "num_active": DOWN, "T": DOWN, "delta": UP, "spread": UP},
    "feddyn.convex_bound_of_lemma": {"L": UP, "num_clients": UP, "num_active": DOWN, "T": DOWN, "D0": UP, "G": UP},
    "nesterov.theorem2_1_15": {"t": DOWN, "kappa": UP, "initial_distance": UP},
    "rockafellar.proximalstep": {"mu": DOWN, "stepsize": DOWN},
}
CASES = [(name, parameter, way) for name, moves in MOVES.items() for parameter, way in moves.items()]


def moves(name: str, parameter: str, way: int, seed: int, step: int) -> bool | None:
    """Whether the value goes that way (or stays) when the parameter grows; None where it cannot grow that far."""
    calculator = FORMULAS[name]
    here = arguments(calculator, seed)
    there = {
        **here,
        parameter: here[parameter] + (step if calculator.parameters[parameter].integer else Fraction(step, 50)),
    }
    with flint.ctx.workprec(300):
        try:
            before, after = ([flint.arb(p) for p in parts(calculator(**each(v, ball)))] for v in (here, there))
        except ValueError:
            return None
        return all(way * (new - old) >= 0 or (new - old).contains(0) for new, old in zip(after, before, strict=True))


@pytest.mark.sample(24)
@pytest.mark.parametrize(("name", "parameter", "way"), CASES)
@given(seed=st.integers(0, 10**6), step=st.integers(1, 20))
def test_direction(name: str, parameter: str, way: int, seed: int, step: int) -> None:
    assert moves(name, parameter, way, seed, step) is not False


@pytest.mark.parametrize(("name", "parameter", "way"), CASES)
def test_the_other_direction_is_noticed(name: str, parameter: str, way: int) -> None:
    assert any(moves(name, parameter, -way, seed, 20) is False for seed in range(40))


def test_rho_is_not_monotone_in_mu() -> None:
    given = {"L": 1, "L_minus": Fraction(1, 4), "B": Fraction(6, 5), "gamma": 0, "K": 8}
    low, best, high = (fedprox.rho(mu=Fraction(mu), **given) for mu in (10, 20, 100))
    assert low < best > high > 0
