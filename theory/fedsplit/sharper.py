"""FedSplit: sharper statements that are not in the paper, each proved in `fedconvex.proofs_checks`."""

from typing import Any

from fedconvex.claims.terms import parameter
from fedconvex.statements.assumptions import (
    Everyone,
    GradientStepsFromCenter,
    ProxError,
    Runs,
    Smooth,
    StronglyConvex,
)
from fedconvex.statements.functions import maximum, named, power, sqrt
from fedconvex.statements.notation import LENGTH, VALUE
from fedconvex.statements.statement import ClaimType
from fedconvex.theory.fedsplit.convergence import FEDSPLIT, ORDERED, contraction
from fedconvex.theory.fedsplit.corrected import FROM_REGULARIZED, REGULARIZED
from fedconvex.theory.fedsplit.notation import PAPER, about
from fedconvex.theory.fedsplit.vectors import error_of_each, first_distance, reaches, reaches_value, start_distance
from fedconvex.types import Real


@PAPER.statement(
    "Theorem 1, sharper", ClaimType.TIGHT, symbol=r"\|x^{(t+1)}-x^*\|", units=LENGTH,
    assumes=(Runs("FedSplit"), Everyone(), StronglyConvex(), Smooth(), ORDERED, ProxError()), ours=True,
    states=reaches, redefines=about(initial_distance=first_distance(parameter("stepsize"))),
)  # fmt: skip
def distance_bound_any_stepsize(
    *, t: Real, stepsize: Real, mu: Real, L: Real, initial_distance: Real, num_clients: Real, b: Real = 0
) -> Any:
    """Theorem 1 for every stepsize s > 0, with an error floor that builds up: δ^t‖z^(1) − z*‖/√m + (q + 1)(1 − δ^t)b.

    q = max(1/(sℓ_*), sL^*) and δ = 1 − 2/(q + 1); s = 1/√(ℓ_* L^*) has the smallest q, √κ. Use it if the stepsize is
    not the best one, or for few rounds with b > 0. Attained for all parameters, by quadratics with errors of one
    direction.
    """
    q = named("q", maximum(1 / (stepsize * mu), stepsize * L))
    shrunk = power(named(r"\delta", 1 - 2 / (q + 1)), t)
    return shrunk * initial_distance / sqrt(num_clients) + (q + 1) * (1 - shrunk) * b


@PAPER.statement(
    "Corollary 1, sharper", ClaimType.TIGHT, symbol="b", units=LENGTH, ours=True,
    assumes=(*FEDSPLIT, GradientStepsFromCenter(lambda kappa: contraction.formula(kappa=kappa))),
    states=error_of_each, redefines=about(start_distance=start_distance),
)  # fmt: skip
def prox_error_bound_sharp(*, kappa: Real, local_steps: Real, start_distance: Real) -> Any:
    """The error of e gradient steps with Corollary 1's stepsize: (1 − 2/(√κ+1))^e ‖x_j − prox_{s f_j}(x_j)‖.

    The factor is that of a round of FedSplit, and quadratics attain it. Corollary 1's factor, 1 − 1/(√κ+1), needs about
    twice as many local steps for the same error.
    """
    return power(contraction.formula(kappa=kappa), local_steps) * start_distance


@PAPER.statement(
    "Theorem 2, round by round", ClaimType.UPPER, symbol="F(x^{(t+1)})-F^*", units=VALUE,
    assumes=REGULARIZED, redefines=FROM_REGULARIZED, ours=True, states=reaches_value,
)  # fmt: skip
def regularized_gap_bound(
    *,
    t: Real,
    stepsize: Real,
    L: Real,
    regularizer: Real,
    num_clients: Real,
    squared_distance: Real,
    initial_distance: Real,
) -> Any:
    """After t rounds on the regularised objective, with λ/2 in (19), any λ > 0 and any stepsize s > 0:
    F(x^(t+1)) − F* ≤ (mλ/2)‖x^(1) − x*‖² + ½L_λ(1 − 2/(q+1))^{2t}‖z^(1) − z_λ*‖².

    L_λ = L^* + λ and q = max(1/(sλ), sL_λ); Theorem 2's stepsize has the smallest q, √(L_λ/λ). The first term is what
    the regularisation adds to the gap; Theorem 2's interval for λ makes it less than ε/2.
    """
    smoothness = named(r"L_\lambda^*", L + regularizer)
    q = named("q", maximum(1 / (stepsize * regularizer), stepsize * smoothness))
    price = num_clients * regularizer / 2 * squared_distance
    return price + smoothness / 2 * power(1 - 2 / (q + 1), 2 * t) * initial_distance**2
