"""Proofs of the statements on Scaffnew: the two outcomes of the coin, added up with their probabilities.

With c_k = h_k − ∇F_k(x*), of mean 0, and a_k = x_k − s∇F_k(x_k) − (x* − s∇F_k(x*)), x̂_k − x* = a_k + s·c_k.
Communication replaces ‖x̂_k − x*‖² by that of the mean, and (s/p)²‖c_k‖² by ‖(s/p)c_k + mean x̂ − x̂_k‖²: together it
subtracts (2s/p)⟨c_k, x̂_k − x*⟩.
"""

from fractions import Fraction as F
from typing import Any

from fedconvex.claims.claim import Claim
from fedconvex.claims.terms import Number, gradient, minimiser, parameter
from fedconvex.proofs_checks.claims import proof_of, proved_by_sum
from fedconvex.proofs_checks.kernel.proofs import Between, Cases, Derivation, Lower
from fedconvex.proofs_checks.library import by, concluding, squared
from fedconvex.proofs_checks.line_clients import remarks_of_instances
from fedconvex.theory import scaffnew

s, p, mu, L = map(parameter, ("stepsize", "probability", "mu", "L"))
u, x = scaffnew.MODELS, minimiser

# An equation of inner products, as mean c_k = 0.
proved_by_sum(scaffnew.one_step)


@proof_of(scaffnew.acceleration)
def acceleration(claim: Claim) -> Derivation:
    """The gradient steps contract by (1 − sμ)², the control variates by 1 − p²; the larger one contracts both."""
    d, g = u - x, gradient(u) - gradient(x)
    short = s * (2 / (mu + L) - s)
    models = 2 * s / (mu + L) * by(Between(u, x)) + short * squared(g - mu * d)
    models += 2 * short * mu * (by(Lower(u, x)) + by(Lower(x, u)))
    of_models, of_controls = (1 - s * mu) ** 2, 1 - p**2
    controls = s / p * (scaffnew.CONTROLS - gradient(x))

    def with_larger(rate: Number) -> Derivation:
        given_away = (rate - of_models) * squared(d) + (rate - of_controls) * squared(controls)
        return Derivation((concluding(claim, models + given_away),))

    return Derivation(cases=Cases(of_models, of_controls, with_larger(of_models), with_larger(of_controls)))


INSTANCES: dict[str, Any] = {  # (curvatures, slopes, start, values of the parameters by name, free vectors)
    "acceleration": ((F(1, 4),), (1,), 2, (F(2, 3), F(1, 4), 1, F(1, 10)), ((1,), (-1,))),
}  # fmt: skip
remarks_of_instances(scaffnew.PAPER, INSTANCES, {"acceleration"})
