"""The facts that proofs of worst cases may use: inequalities of function classes, and what a question assumes.

The list is closed. A fact is an expression that is ≥ 0, or = 0.
"""

from dataclasses import dataclass
from typing import Any, final

from fedconvex.proofs_checks.engines.hilbert import HilbertVector, inner, mean, square


@final
@dataclass(frozen=True)
class Fact:
    """expression ≥ 0, or = 0 for an `equation`."""

    expression: Any
    name: str
    equation: bool = False


def smooth(value_y: Any, value_x: Any, gradient_x: HilbertVector, step: HilbertVector, L: Any) -> Fact:
    """f(y) ≤ f(x) + ⟨∇f(x), y − x⟩ + (L/2)‖y − x‖² for an L-smooth f (the descent lemma); `step` is y − x.

    For families (`hilbert`) this is the mean over the clients, the values being means as well.
    """
    right = value_x + inner(gradient_x, step) + L * square(step) / 2
    return Fact(right - value_y, "an L-smooth function lies below its quadratic")


def convex(value_y: Any, value_x: Any, gradient_x: HilbertVector, step: HilbertVector, mu: Any = 0) -> Fact:
    """f(y) ≥ f(x) + ⟨∇f(x), y − x⟩ + (μ/2)‖y − x‖² for a μ-strongly convex f; μ = −L₋ where it is weakly convex."""
    left = value_x + inner(gradient_x, step) + mu * square(step) / 2
    return Fact(value_y - left, "a (strongly, weakly) convex function lies above its tangent")


def inexact(residual: HilbertVector, gradient: HilbertVector, gamma: Any) -> Fact:
    """‖∇h(w_k)‖² ≤ γ²‖∇F_k(w)‖² (FedProx paper, Definition 1)."""
    return Fact(gamma**2 * square(gradient) - square(residual), "the answers are γ-inexact")


def dissimilar(gradients: HilbertVector, B: Any) -> Fact:
    """E_k‖∇F_k(w)‖² ≤ B²‖∇f(w)‖² (FedProx paper, Definition 3)."""
    return Fact(B**2 * square(mean(gradients)) - square(gradients), "the clients are B-dissimilar")


def minimal(value: Any, least: Any) -> Fact:
    """f(x) ≥ f*: the value at a point is at least the smallest."""
    return Fact(value - least, "the smallest value is below every value")
