"""What strong convexity and smoothness say of two points: ⟨g − ℓd, Ld − g⟩ ≥ 0, d and g their differences.

With ℓ = 1/(sq) and L = q/s, times s²: ⟨sg − d/q, qd − sg⟩ ≥ 0. It follows from the descent lemma and strong convexity
at two more points, x − θv and y + θv with v = g − ℓd and θ = 1/(L − ℓ); where ℓ = L, from the two definitions.
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
    """Of what is assumed: the function is f + (added/2)‖· − a‖², f is `convexity`-strongly convex, `smoothness`-smooth.

    Under the conditions the function is 1/(sq)-strongly convex and q/s-smooth. By default it is f, with just these.
    `apart` says that the conditions exclude q = 1.
    """

    convexity: Any = strong
    smoothness: Any = smooth_constant
    added: Any = 0
    conditions: Domain = field(default_factory=Domain)
    apart: bool = False

    @property
    def domain(self) -> Domain:
        """With q ≥ 1 or q > 1, which follows from the conditions where there are any."""
        return self.conditions & sympy.Gt(q, 1, evaluate=False) if self.apart else BEST & self.conditions

    def at_one(self) -> "AssumedCurvature":
        """Where q = 1."""
        convexity, smoothness, added = (
            sympy.sympify(number).subs(q, 1) for number in (self.convexity, self.smoothness, self.added)
        )
        return AssumedCurvature(convexity, smoothness, added, self.conditions.substituted(**{str(q): sympy.Integer(1)}))


def gap(d: Any, g: Any, root: Any = q) -> Any:
    """⟨sg − d/q, qd − sg⟩, which is not negative."""
    return inner(s * g - d / root, root * d - s * g)


def interpolation(curvature: AssumedCurvature | None = None) -> tuple[Step, ...]:
    """The steps; the last one is the inequality."""
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
    """Where q = 1."""
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
