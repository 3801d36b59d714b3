"""What strong convexity and smoothness say of two points: ⟨g − ℓd, Ld − g⟩ ≥ 0, d and g their differences.

With ℓ = 1/(sq) and L = q/s, times s²: ⟨sg − d/q, qd − sg⟩ ≥ 0. It follows from the descent lemma and strong convexity
at two more points, x − θv and y + θv with v = g − ℓd and θ = 1/(L − ℓ); where ℓ = L, from the two definitions.

With `added` = λ the function is f + (λ/2)‖· − a‖², of an (ℓ − λ)-strongly convex and (L − λ)-smooth f.
"""

from typing import Any

import sympy

from fedconvex.proofs_checks.engines.cases import AtOrAbove
from fedconvex.proofs_checks.engines.checks import Combination
from fedconvex.proofs_checks.engines.facts import convex, lipschitz, smooth
from fedconvex.proofs_checks.engines.hilbert import inner, vector
from fedconvex.proofs_checks.engines.signs import Domain
from fedconvex.proofs_checks.fedsplit.setting import BEST, q, s, smooth_constant, strong
from fedconvex.proofs_checks.proof import Claim, Step

difference, gradients = vector("x−y"), vector("∇f(x)−∇f(y)")
_gradient_at_y = vector("∇f(y)")
_at_x, _at_y, _near_x, _near_y = sympy.symbols("f(x) f(y) f(x−θv) f(y+θv)", real=True)


def gap(d: Any, g: Any, root: Any = q) -> Any:
    """⟨sg − d/q, qd − sg⟩, which is not negative."""
    return inner(s * g - d / root, root * d - s * g)


def interpolation(added: Any = 0) -> tuple[Step, ...]:
    """The steps; the last one is the inequality."""
    apart = Claim(0, "<=", gap(difference, gradients), Domain((sympy.Gt(q, 1, evaluate=False),)), "two points, ℓ < L")
    equal = Claim(0, "<=", gap(difference, gradients, sympy.Integer(1)), Domain(), "two points, ℓ = L")
    both = Claim(0, "<=", gap(difference, gradients), BEST, "two points")
    slope = gradients - strong * difference
    theta = 1 / (smooth_constant - strong)
    ell, top = sympy.simplify(strong - added), smooth_constant - added  # of f
    of_f = gradients - added * difference
    gradient_at_x = _gradient_at_y + of_f
    at_four_points = (
        smooth(_near_x, _at_x, gradient_at_x, -theta * slope, top),
        convex(_near_x, _at_y, _gradient_at_y, difference - theta * slope, ell),
        smooth(_near_y, _at_y, _gradient_at_y, theta * slope, top),
        convex(_near_y, _at_x, gradient_at_x, theta * slope - difference, ell),
    )
    at_one = {q: 1}
    ell_at_one = sympy.sympify(ell).subs(at_one)
    of_f_at_one = gradients - sympy.sympify(added).subs(at_one) * difference
    one_curvature = (
        (s**2, lipschitz(of_f_at_one, difference, ell_at_one)),
        (2 * s**2 * ell_at_one, convex(_at_y, _at_x, _gradient_at_y + of_f_at_one, -difference, ell_at_one)),
        (2 * s**2 * ell_at_one, convex(_at_x, _at_y, _gradient_at_y, difference, ell_at_one)),
    )
    shown = r"\langle \nabla f(x)-\nabla f(y)-\ell(x-y),\; L(x-y)-\nabla f(x)+\nabla f(y)\rangle \ge 0"
    return (
        Step(shown + r"\quad(\ell<L)", "the descent lemma and strong convexity at x − θv and y + θv", apart,
             Combination(facts=tuple((s**2 / theta, fact) for fact in at_four_points))),
        Step(shown + r"\quad(\ell=L)", "a gradient that is L-Lipschitz and L-strongly monotone is L(x − y)", equal,
             Combination(facts=one_curvature)),
        Step(shown, "both cases", both, AtOrAbove(q, 1, apart, equal)),
    )  # fmt: skip
