"""What counts as a Lyapunov function with a proof, and what does not."""

from dataclasses import replace
from fractions import Fraction as F

import pytest

import fedconvex as fc
from fedconvex.arithmetic.rationals import to_fmpq
from fedconvex.proofs_checks import SmoothStronglyConvex, lyapunov
from fedconvex.proofs_checks.search.lyapunov.attained_vectors import attained_vectors
from fedconvex.proofs_checks.worst_cases.certificates.search import Target, certify


@pytest.fixture(scope="module")
def found():
    return lyapunov(fc.Scaffold(stepsize=F(1, 30), local_steps=3), SmoothStronglyConvex(1, 30)).function


def test_the_proof_is_accepted_again(found):
    assert replace(found).rate == F(29, 30) ** 6
    assert found.certificate.t == found.rate
    assert {*found.certificate.used} <= {name for name, _ in found.posed.inequalities}


def test_a_rate_that_is_smaller_by_a_millionth_is_rejected(found):
    with pytest.raises(ValueError, match="no proof"):
        replace(found, rate=found.rate * (1 - F(1, 10**6)))


def test_a_smaller_rate_is_found_by_no_search(found):
    from fedconvex.proofs_checks.search.lyapunov.functions import certified
    from fedconvex.proofs_checks.search.lyapunov.semidefinite import lyapunov_function

    rate = found.rate * (1 - F(1, 10**6))
    proposed = lyapunov_function(found.posed, float(rate))
    assert proposed.margin < 0
    assert certified(found.posed, rate, proposed) is None


@pytest.mark.parametrize("factor", [0, F(1, 2), 1 + F(1, 10**6)])
def test_each_perturbed_multiplier_is_rejected(found, factor):
    used = [i for i, c in enumerate(found.multipliers) if c]
    assert len(used) > 5
    for i in used:
        changed = [*found.multipliers[:i], found.multipliers[i] * factor, *found.multipliers[i + 1 :]]
        with pytest.raises(ValueError, match="no proof"):
            replace(found, multipliers=tuple(changed))


def test_negative_and_missing_multipliers_are_rejected(found):
    with pytest.raises(ValueError, match="no proof"):
        replace(found, multipliers=tuple(-c for c in found.multipliers))
    with pytest.raises(ValueError, match="no proof"):
        replace(found, multipliers=found.multipliers[1:])


def test_what_is_not_positive_definite_is_no_lyapunov_function(found):
    """V = 0 "contracts" by any factor, and so does a V that ignores a coordinate or decreases below 0."""
    for factor in (0, -1):
        for pair in found.entries:
            with pytest.raises(ValueError, match="no Lyapunov function"):
                replace(found, entries={**found.entries, pair: factor * found.entries[pair]})
    some = dict(list(found.entries.items())[:1])
    with pytest.raises(ValueError, match="no Lyapunov function"):
        replace(found, entries=some)


def test_a_function_is_written_with_its_coordinates():
    text = str(lyapunov(fc.FedDyn(alpha=2), SmoothStronglyConvex(1, 4)).function)
    assert text == "‖(server + 1/2·server's h)‖² + 1/4·mean‖gradient_k − mean‖²"


@pytest.mark.parametrize(("kappa", "e"), [(30, 3), (100, 5), (100, 10)])
def test_the_theorems_own_function_contracts_by_the_same_rate(kappa, e):
    """V = ‖w‖² + mean‖D_k‖² with D_k = (e/κ)(c_k − c − ∇F_k(x*)), certified by the search of `worst_case`."""
    found = lyapunov(fc.Scaffold(stepsize=F(1, kappa), local_steps=e), SmoothStronglyConvex(1, kappa))
    posed = found.function.posed
    program = posed.program({pair: to_fmpq(1 if pair[0][0] == "mean" else F(e, kappa) ** 2) for pair in posed.pairs})
    vectors = [program.coordinates(zero) for zero in attained_vectors(posed, found.slowest)]
    target = Target(to_fmpq((1 - F(1, kappa)) ** (2 * e)), [lambda one=one: one for one in vectors])
    certificate = certify(program, target, lambda _: True).certificate
    assert certificate.t == found.upper == (1 - F(1, kappa)) ** (2 * e)
