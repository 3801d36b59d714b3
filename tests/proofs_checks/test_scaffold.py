"""SCAFFOLD with any number of local steps: proved, attained, true of random clients, false without its condition."""

from dataclasses import replace
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from rational_draws import rationals

import fedconvex as fc
from fedconvex.claims.terms import number, parameter
from fedconvex.errors import InvalidInput
from fedconvex.proofs_checks import verify
from fedconvex.proofs_checks.kernel import Refused, theorem
from fedconvex.proofs_checks.kernel.proofs import Derivation
from fedconvex.proofs_checks.library import squared
from fedconvex.proofs_checks.scaffold import GIVEN_AWAY, INVARIANTS, ROOM, D, one_round, total
from fedconvex.theory import bounds_for, scaffold, statement
from fedconvex.verdicts import Verdict

pytestmark = pytest.mark.beyond_core
F = Fraction
OF = scaffold.accelerated
s, e, mu, L = map(parameter, ("stepsize", "local_steps", "mu", "L"))


def test_it_is_proved_and_attained() -> None:
    assert statement("scaffold.acceleration") is OF
    found = verify(OF)
    assert found.verdict is Verdict.PROVED
    assert found.tightness is not None
    assert found.tightness.attained


def test_the_kernel_proves_it_for_all_steps_that_leave_room() -> None:
    """4e²sμ ≤ 3 serves only to show ROOM ≥ 0, which allows e up to 0.97√κ."""
    room = e**2 * (1 - s * mu) ** e * (1 - s * mu) ** e
    less = (e - 1) ** 2 + (e - total(e)) ** 2 + (e - 1) * GIVEN_AWAY
    allowed = ((number(1), ">", s * mu), (1 / s, ">=", L), (room, ">=", less))
    setting = replace(OF.setting, conditions=allowed)
    proof = Derivation(one_round(OF.claim, ROOM * squared(D)), INVARIANTS)
    assert theorem(setting, OF.claim, proof)
    with pytest.raises(Refused, match="may be negative"):
        theorem(replace(setting, conditions=allowed[:2]), OF.claim, proof)


def by_hand(w: np.ndarray, c: np.ndarray, H: list, b: list, stepsize: F, steps: int) -> tuple[np.ndarray, np.ndarray]:
    """A round of the paper's Algorithm 1, option II, on F_k = ½xᵀH_k x − b_k·x, written out again."""
    y = np.array([w] * len(H))
    mean = sum(c) / F(len(H))
    for _ in range(steps):
        slopes = [H_k @ y_k - b_k - c_k for y_k, H_k, b_k, c_k in zip(y, H, b, c, strict=True)]
        y = np.array([y_k - stepsize * (slope + mean) for y_k, slope in zip(y, slopes, strict=True)])
    new = np.array([c_k - mean + (w - y_k) / (steps * stepsize) for c_k, y_k in zip(c, y, strict=True)])
    return sum(y) / F(len(H)), new


def energy(w: np.ndarray, c: np.ndarray, H: list, b: list, stepsize: F, steps: int) -> F:
    best = solved(sum(H), sum(b))
    mean = sum(c) / F(len(H))
    apart = [steps * stepsize * (c_k - mean - (H_k @ best - b_k)) for c_k, H_k, b_k in zip(c, H, b, strict=True)]
    return (w - best) @ (w - best) + sum(d @ d for d in apart) / F(len(H))


def solved(H: np.ndarray, b: np.ndarray) -> np.ndarray:
    """The solution of a diagonal system."""
    return np.array([F(b_i) / H_ii for b_i, H_ii in zip(b, np.diag(H), strict=True)], dtype=object)


def diagonal(*entries: F) -> np.ndarray:
    return np.array([[x if i == j else F(0) for j in range(len(entries))] for i, x in enumerate(entries)], dtype=object)


def fits(e: int, kappa: int) -> bool:
    """Whether e local steps of size 1/L satisfy the condition, from sums instead of powers."""
    q = 1 - F(1, kappa)
    first = sum(q**j for j in range(e))
    second = first + q**e
    return e**2 * q ** (2 * e) >= (e - 1) ** 2 + (e - first) ** 2 + (e - second) ** 2 * (e - 1) / (1 + 2 * q)


fractions = rationals(-3, 3, 4)
inside = rationals(1, 100, 10)


client = st.tuples(inside, inside, fractions, fractions, fractions, fractions)


@given(st.integers(1, 12), st.lists(client, min_size=1, max_size=3), st.tuples(fractions, fractions))
@example(9, [(F(1), F(100), F(1), F(0), F(2), F(-1)), (F(100), F(1), F(0), F(3), F(-2), F(1))], (F(1), F(2)))
def test_a_round_contracts_as_promised(steps: int, clients: list, start: tuple) -> None:
    if not fits(steps, 100):
        return
    H, b = [diagonal(p, r) for p, r, *_ in clients], [np.array(of[2:4], dtype=object) for of in clients]
    c = np.array([of[4:] for of in clients], dtype=object)
    c = c - sum(c) / F(len(clients))
    w, s = np.array(start, dtype=object), F(1, 100)
    rate = F(99, 100) ** (2 * steps)
    after = energy(*by_hand(w, c, H, b, s, steps), H, b, s, steps)
    assert after <= rate * energy(w, c, H, b, s, steps)


def test_it_is_false_without_its_condition() -> None:
    """κ = 100, 30 local steps: (1 − sμ)^{2e} is 0.547; clients of largest curvature keep (1 − 1/e)² = 0.934 of ‖D‖²."""
    assert not fits(30, 100)
    with pytest.raises(InvalidInput, match="acceleration needs mu <= 3/"):
        OF(stepsize=F(1, 100), local_steps=30, mu=1, L=100)
    H, b, s, e = [diagonal(F(100))] * 2, [np.array([F(0)]), np.array([F(0)])], F(1, 100), 30
    w, c = np.array([F(0)]), np.array([[F(1)], [F(-1)]])
    assert energy(*by_hand(w, c, H, b, s, e), H, b, s, e) == (1 - F(1, e)) ** 2 * energy(w, c, H, b, s, e)
    assert (1 - F(1, e)) ** 2 > F(99, 100) ** 60


def test_all_numbers_of_steps_up_to_the_root_satisfy_the_condition() -> None:
    for kappa, e in product((2, 3, 5, 10, 100, 997), range(1, 30)):
        if 4 * e**2 <= 3 * kappa:
            assert fits(e, kappa)
            assert OF(stepsize=F(1, kappa), local_steps=e, mu=1, L=kappa) == (1 - F(1, kappa)) ** (2 * e)
    assert fits(1, 2)
    assert not fits(40, 997)


def test_the_bounds_of_a_problem_name_it() -> None:
    problem = fc.Quadratic([diagonal(F(1), F(3)), diagonal(F(2), F(8))], [[1, 0], [0, 1]])
    for steps, option, applies in ((2, 2, True), (2, 1, False), (5, 2, False)):
        method = fc.Scaffold(stepsize=F(1, 9), local_steps=steps, option=option)
        found = [bound.statement.identifier for bound in bounds_for(problem, method).applies]
        assert (OF.identifier in found) is applies
    method = fc.Scaffold(stepsize=F(1, 9), local_steps=2, server_stepsize=F(1, 2))
    assert not any(bound.statement.paper.name == "scaffold" for bound in bounds_for(problem, method).applies)
