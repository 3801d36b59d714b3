"""SCAFFOLD on convex clients with any number e of local steps: a potential along the steps, and one round.

Seen from w*, with g_i = s(∇F_k(y_i) − ∇F_k(w*)) and D_k = es(c_k − c − ∇F_k(w*)), a local step is
y_{i+1} = y_i − g_i + D_k/e, and V⁺ = mean‖z_e‖² for z_i = y_i − (i/e)D_k = w − Σ_{j<i} g_j: D_k is not in it.
"""

from fedconvex.claims.claim import Claim
from fedconvex.claims.terms import (
    Number,
    Vector,
    before_last_step,
    family,
    gradient,
    inner,
    local_step,
    mean,
    memory,
    minimiser,
    parameter,
    server,
    shared,
    square,
    value,
)
from fedconvex.proofs_checks.claims import proof_of
from fedconvex.proofs_checks.kernel.proofs import STEP, AlongSteps, Derivation, Proved
from fedconvex.proofs_checks.library import Parts, added_up, by, cited, concluding, interpolation, squared
from fedconvex.theory import exact_rates
from fedconvex.theory.exact_rates.control_variates import energy_of_steps

s, e, T, i = parameter("stepsize"), parameter("local_steps"), parameter("T"), parameter(STEP)
w, u, last = server(0), family("u"), before_last_step
D = e * s * (memory("c", 0) - shared("c", 0) - gradient(minimiser))
INVARIANTS = (("shared c", mean(memory("c", 0))),)


def slope(at: Vector) -> Vector:
    """g = s(∇F_k − ∇F_k(w*)) at a point."""
    return s * (gradient(at) - gradient(minimiser))


def between(b: Vector, a: Vector) -> Parts:
    """s times the interpolation inequality, of functions with curvatures in [0, 1/s]."""
    parts: Parts = s * interpolation(b, a, 0, 1 / s)
    return parts


def potential(at: Vector) -> Number:
    """‖z‖² + 2(i − 1)f − i‖g‖² + (2i/e)⟨g, D⟩ + ((e − 1)² − i²)‖D‖²/e²,
    with f = s(F_k(y) − F_k(w*) − ⟨∇F_k(w*), y − w*⟩).
    """
    y, g = at - minimiser, slope(at)
    f = s * (value(at) - value(minimiser) - inner(gradient(minimiser), y))
    pulled = 2 * i / e * inner(g, D) + ((e - 1) ** 2 - i**2) / e**2 * square(D)
    return square(y - i / e * D) + 2 * (i - 1) * f - i * square(g) + pulled


def along_steps() -> AlongSteps:
    """No step makes the potential larger."""
    after = local_step(u)
    parts = 2 * between(minimiser, u) + 2 * i * between(u, after) + (2 * i + 1) * squared(slope(after) - D / e)
    return AlongSteps(potential(u), "u", w, parts.facts, parts.squares, name="all but the last step")


@proof_of(exact_rates.scaffold_steps_round)
def one_round(claim: Claim) -> Derivation:
    """The last step, and what is left of ‖D‖²."""
    parts = cited("all but the last step") + 2 * between(minimiser, last) + 2 * (e - 1) * between(last, minimiser)
    parts += (2 * e - 1) / e**2 * squared(D)
    return Derivation((along_steps(), concluding(claim, parts)), INVARIANTS)


@proof_of(exact_rates.scaffold_convex_steps)
def convex(claim: Claim) -> Derivation:
    """The decreases of all rounds add up to at most V at the start."""
    decrease = by(Proved("exact_rates.scaffoldroundconvexclients"))
    gap = value(w) - value(minimiser)
    end = squared(w - minimiser) + squared(D)
    return added_up(claim, decrease, energy_of_steps(0), 2 * s * gap, 1 / (2 * s * T), end=end, invariants=INVARIANTS)
