"""FedDyn: the assumptions of its statements on the devices' functions, on participation, and on α.

The `smallest_alpha_…` calculators round float results up, so that the theorem admits the number that they return.
"""

from typing import Any

from fedconvex.statements.assumptions import (
    Convex,
    ExactSolutions,
    Runs,
    SampledUniformly,
    Smooth,
    StartsAtLocalMinima,
    StronglyConvex,
)
from fedconvex.statements.conditions import Condition
from fedconvex.statements.functions import maximum, sqrt
from fedconvex.statements.notation import CURVATURE
from fedconvex.theory.feddyn.notation import PAPER
from fedconvex.types import Real

ACTIVE = Condition("num_active", "<=", "num_clients")
ORDERED = Condition("mu", "<=", "L")
DRAWN = (SampledUniformly(), ACTIVE)

FEDDYN = (Runs("FedDyn"), ExactSolutions(), *DRAWN)
ONE_GRADIENT = (Runs("FedDynOneGD"), *DRAWN)
CONVEX = (Convex(), Smooth())
STRONGLY_CONVEX = (StronglyConvex(), Smooth(), ORDERED)


@PAPER.calculator(of="Theorem 2", units=CURVATURE, upwards=True)
def smallest_alpha_convex(*, L: Real) -> Any:
    """The smallest α that Theorem 2 admits: 25L."""
    return 25 * L


@PAPER.calculator(of="Theorem 3", units=CURVATURE, upwards=True, assumes=(ACTIVE,))
def smallest_alpha_strongly_convex(*, L: Real, mu: Real, num_clients: Real, num_active: Real) -> Any:
    """The smallest α that Theorem 3 admits: max(5(m/P)μ, 30L)."""
    return maximum(5 * num_clients * mu / num_active, 30 * L)


@PAPER.calculator(of="Theorem 4", units=CURVATURE, upwards=True, assumes=(ACTIVE,))
def smallest_alpha_nonconvex(*, L: Real, num_clients: Real, num_active: Real) -> Any:
    """The smallest α that Theorem 4 admits: 20L m/P."""
    return 20 * L * num_clients / num_active


@PAPER.calculator(of="Theorem 5", units=CURVATURE, upwards=True, assumes=(ACTIVE,))
def smallest_alpha_one_gradient(*, L: Real, mu: Real, num_clients: Real, num_active: Real) -> Any:
    """The smallest α for which FedDynOneGD is analysed on strongly convex devices: max(50(m/P)μ, 50L)."""
    return maximum(50 * num_clients * mu / num_active, 50 * L)


@PAPER.calculator(of="Theorem 5", units=CURVATURE, upwards=True, assumes=(ACTIVE,))
def smallest_alpha_one_gradient_nonconvex(*, L: Real, num_clients: Real, num_active: Real) -> Any:
    """The smallest α for which FedDynOneGD is analysed on smooth devices: 50L m/P."""
    return 50 * L * num_clients / num_active


def _defined(*, L: Real) -> Any:
    """κ of Lemma 1 is defined and positive just where α² > 20L²."""
    return sqrt(20 * L**2)


ALPHA_CONVEX = Condition("alpha", ">=", smallest_alpha_convex.formula)
ALPHA_STRONGLY_CONVEX = Condition("alpha", ">=", smallest_alpha_strongly_convex.formula)
ALPHA_NONCONVEX = Condition("alpha", ">=", smallest_alpha_nonconvex.formula)
ALPHA_ONE_GRADIENT = Condition("alpha", ">=", smallest_alpha_one_gradient.formula)
ALPHA_ONE_GRADIENT_NONCONVEX = Condition("alpha", ">=", smallest_alpha_one_gradient_nonconvex.formula)
# κ₀ of Lemma 1 is positive just where α > (10 + √140)L, about 21.84L: α² − 20αL − 40L² > 0.
ALPHA_LEMMA1 = Condition("alpha", ">", lambda L: 10 * L + sqrt(140 * L**2))
ALPHA_DEFINED = Condition("alpha", ">", _defined)

CASES = (
    (StronglyConvex(), Condition("alpha", "=", smallest_alpha_strongly_convex.formula)),
    (Convex(), Condition("alpha", "=", lambda L, num_clients, num_active: 30 * L * sqrt(num_clients / num_active))),
    (
        StartsAtLocalMinima(),
        Condition("alpha", "=", lambda L, num_clients, num_active: 30 * L * num_clients / num_active),
    ),
)
"""The cases of Theorem 1 with their α, which the theorem does not state; its proof does."""
ONE_GRADIENT_CASES = (
    (StronglyConvex(), Condition("alpha", "=", smallest_alpha_one_gradient.formula)),
    (Convex(), Condition("alpha", "=", lambda L, num_clients, num_active: 50 * L * sqrt(num_clients / num_active))),
    (StartsAtLocalMinima(), Condition("alpha", "=", smallest_alpha_one_gradient_nonconvex.formula)),
)
"""The cases of Theorem 5 with their α."""
