"""The inequality between two points of an ℓ-strongly convex and L-smooth function: ⟨g − ℓd, Ld − g⟩ ≥ 0.

d and g are the differences of the points and of the gradients. With ℓ = 1/(sq) and L = q/s, and multiplied by s², it is
⟨sg − d/q, qd − sg⟩ ≥ 0. For ℓ < L it follows from the descent lemma and strong convexity at two more points, x − θv and
y + θv with v = g − ℓd and θ = 1/(L − ℓ); for ℓ = L, where θ is not defined, from the definitions of ℓ and L.
"""

from dataclasses import dataclass, field
from typing import Any, final

import sympy

from fedconvex.proofs_checks.engines.cases import AtOrAbove
from fedconvex.proofs_checks.engines.checks import Combination
from fedconvex.proofs_checks.engines.facts import convex, lipschitz, smooth
from fedconvex.proofs_checks.engines.hilbert import inner, vector
from fedconvex.proofs_checks.engines.signs import Domain
from fedconvex.proofs_checks.fedsplit.notation import BEST, q, s, smooth_constant, strong
from fedconvex.proofs_checks.proof import Relation, Step

difference, gradients = vector("x−y"), vector("∇f(x)−∇f(y)")
_gradient_at_y = vector("∇f(y)")
_at_x, _at_y, _near_x, _near_y = sympy.symbols("f(x) f(y) f(x−θv) f(y+θv)", real=True)


@final
@dataclass(frozen=True)
class AssumedCurvature:
    """The hypotheses on f for which the inequality is proved for the function f + (added/2)‖· − a‖².

    f is `convexity`-strongly convex and `smoothness`-smooth; under `conditions` the sum is 1/(sq)-strongly convex and
    q/s-smooth. By default nothing is added, and f itself has these constants. `apart` states that the conditions
    exclude q = 1, so that the case ℓ = L is not needed.
    """

    convexity: Any = strong
    smoothness: Any = smooth_constant
    added: Any = 0
    conditions: Domain = field(default_factory=Domain)
    apart: bool = False

    @property
    def domain(self) -> Domain:
        """The conditions, with q > 1 or q ≥ 1; with conditions given, that follows from them."""
        return self.conditions & sympy.Gt(q, 1, evaluate=False) if self.apart else BEST & self.conditions

    def at_one(self) -> "AssumedCurvature":
        """The same hypotheses for q = 1."""
        convexity, smoothness, added = (
            sympy.sympify(number).subs(q, 1) for number in (self.convexity, self.smoothness, self.added)
        )
        return AssumedCurvature(convexity, smoothness, added, self.conditions.substituted(**{str(q): sympy.Integer(1)}))


def gap(d: Any, g: Any, root: Any = q) -> Any:
    """The expression ⟨sg − d/q, qd − sg⟩, for which the steps prove ≥ 0; `root` is q."""
    return inner(s * g - d / root, root * d - s * g)


def interpolation(curvature: AssumedCurvature | None = None) -> tuple[Step, ...]:
    """The steps that prove the inequality; the claim of the last one is the inequality itself."""
    of = curvature or AssumedCurvature()
    one = of.at_one()
    strictly = of.conditions & sympy.Gt(q, 1, evaluate=False)
    apart = Relation(0, "<=", gap(difference, gradients), strictly, "two points, ℓ < L")
    at_one = one.conditions & sympy.Eq(q, 1, evaluate=False)
    equal = Relation(0, "<=", gap(difference, gradients, sympy.Integer(1)), at_one, "two points, ℓ = L")
    both = Relation(0, "<=", gap(difference, gradients), of.domain, "two points")
    from_four = "the descent lemma and strong convexity at x − θv and y + θv"
    shown = r"\langle \nabla f(x)-\nabla f(y)-\ell(x-y),\; L(x-y)-\nabla f(x)+\nabla f(y)\rangle \ge 0"
    if of.apart:
        return (Step(shown, from_four, apart, at_four_points(of)),)
    return (
        Step(shown + r"\quad(\ell<L)", from_four, apart, at_four_points(of)),
        Step(shown + r"\quad(\ell=L)", "a gradient that is L-Lipschitz and L-strongly monotone is L(x − y)", equal,
             from_definitions(one)),
        Step(shown, "both cases", both, AtOrAbove(q, 1, apart, equal)),
    )  # fmt: skip


def at_four_points(of: AssumedCurvature) -> Combination:
    """The case ℓ < L: upper and lower quadratic bounds at x − θv and at y + θv."""
    theta = 1 / (smooth_constant - strong)
    shift = theta * (gradients - strong * difference)
    gradient_at_x = _gradient_at_y + gradients - of.added * difference  # of f
    facts = (
        smooth(_near_x, _at_x, gradient_at_x, -shift, of.smoothness),
        convex(_near_x, _at_y, _gradient_at_y, difference - shift, of.convexity),
        smooth(_near_y, _at_y, _gradient_at_y, shift, of.smoothness),
        convex(_near_y, _at_x, gradient_at_x, shift - difference, of.convexity),
    )
    more_convex = of.convexity + of.added - strong
    less_smooth = smooth_constant - of.added - of.smoothness
    scale = s**2 / theta
    squares = ((scale * less_smooth, shift), (scale * more_convex, difference - shift))
    return Combination(facts=tuple((scale, fact) for fact in facts), squares=squares)


def from_definitions(of: AssumedCurvature) -> Combination:
    """The case q = 1: the gradient is L-Lipschitz and L-strongly monotone, so that its difference is Ld."""
    of_f, rest = gradients - of.added * difference, 1 - s * of.added
    monotone = (
        convex(_at_y, _at_x, _gradient_at_y + of_f, -difference, of.convexity),
        convex(_at_x, _at_y, _gradient_at_y, difference, of.convexity),
    )
    spare = sympy.expand(2 * s * rest * of.convexity - rest**2 - s**2 * of.smoothness**2)
    return Combination(
        facts=((s**2, lipschitz(of_f, difference, of.smoothness)), *((2 * s * rest, fact) for fact in monotone)),
        squares=((spare, difference),),
    )
