"""The proofs of the statements on DANE, the first of which is built from the multipliers that `discover` found.

`discover` computed exact multipliers of worst-case proofs at several parameters and fitted rational functions to them.
Only those formulas remain here, and the kernel replays the proof like any other.
"""

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from fedconvex.claims.claim import Claim
from fedconvex.claims.terms import answers, gradient, mean, minimiser, norm, objective_gradient, parameter, server
from fedconvex.methods.dane import DANE
from fedconvex.proofs_checks.claims import proof_of
from fedconvex.proofs_checks.kernel.proofs import Between, Derivation, Similar
from fedconvex.proofs_checks.library import (
    Parts,
    by,
    cauchy_schwarz,
    cited,
    concluding,
    interpolation,
    jensen,
    rooted,
    squared,
)
from fedconvex.proofs_checks.line_clients import remarks_of_instances
from fedconvex.proofs_checks.remarks import Remarks, remarks_on
from fedconvex.proofs_checks.tightness import Measure, Tightness
from fedconvex.proofs_checks.worst_cases.questions.function_classes import WeaklyConvex
from fedconvex.statements.statement import Statement
from fedconvex.theory import dane


def one_round_of_dane(mu: Any, eta: Any, L: Any, L_minus: Any) -> Mapping[str, Any]:
    """The arguments of `worst_case`: one round of DANE, and the decrease of f relative to ‖∇f‖²."""
    method, clients = DANE(mu=mu, eta=eta), WeaklyConvex(L_minus, L)
    return {"method": method, "clients": clients, "num_clients": "any", "metric": "descent"}


@remarks_on(dane.PAPER.find("oneround"))
def remarks(statement: Statement) -> Remarks:
    """The worst known instance."""
    return Remarks(tightness=Tightness(_decrease(statement), (3, Fraction(1, 2), 1), "L x²/2", attained=True))


INSTANCES: dict[str, Any] = {  # (curvatures, slopes, start, values of the parameters by name, free vectors)
    "similarclients": ((Fraction(1, 2), Fraction(3, 2)), (1, -1), 1, (2, 1, Fraction(1, 2), 1), ()),
    "gradientsofsimilarclients": ((1, 3), (1, -1), 2, (1,), ()),
}
remarks_of_instances(dane.PAPER, INSTANCES, {"gradientsofsimilarclients"})


def _decrease(statement: Statement) -> Measure:
    """(promised, actual) decrease for one client L x²/2 from w = 1, whose answer is θ = 1 − ηL/(L + μ)."""

    def measure(instance: tuple[Any, Any, Any]) -> tuple[Any, Any] | None:
        mu, eta, L = map(Fraction, instance)
        if not (mu >= L > 0 and 0 < eta <= 1):
            return None
        after = 1 - eta * L / (mu + L)
        rho = statement.calculator.formula(mu=mu, eta=eta, L=L, L_minus=Fraction(0))
        return rho * L**2, L * (1 - after**2) / 2

    return measure


@proof_of(dane.PAPER.find("oneround"))
def one_round(claim: Claim) -> Derivation:
    """Interpolation inequalities between w, the clients' answers and their mean; the rest is a sum of squares.

    On ½Lx² the change of ∇f is L times the mean step, which is −(η/(μ + L))∇f.
    """
    mu, eta, L, L_minus = map(parameter, ("mu", "eta", "L", "L_minus"))
    w, centre = server(0), mean(answers)
    between = (mu + L - eta * L) / (eta * (mu + L))
    uses = ((between, answers, w), (between, centre, answers), (between + 1, w, centre))
    parts = sum((c * interpolation(b, a, -L_minus, L) for c, b, a in uses), start=Parts())
    step, slope = centre - w, mean(gradient(w))
    change, apart = gradient(centre) - gradient(w), answers - centre
    scale, left = eta * (L + L_minus), mu + L - eta * L
    rest = left + mu + L + eta * mu
    weight = rest / (2 * scale * (mu + L))  # of the squares with the change
    short, curved = step + eta / (mu + L) * slope, mean(change) - L * step
    both, own = left / (2 * scale), (2 * (mu + L) * (mu - L_minus) - eta * L * (L + 2 * mu - L_minus)) / (2 * scale)
    parts += weight * squared(curved + both / weight * short) + (own - both**2 / weight) * squared(short)
    tied = (mu - L_minus) * left / rest
    deviation = change - mean(change) + tied * apart
    parts += weight * squared(deviation) + ((mu - L_minus) * left / scale - weight * tied**2) * squared(apart)
    return Derivation((concluding(claim, parts),))


@proof_of(dane.PAPER.find("similarclients"))
def similar_clients(claim: Claim) -> Derivation:
    """∇f(θ_k) = −μ(θ_k − w) − e_k with ‖e_k‖ ≤ δ‖θ_k − w‖, and f grows from w* to θ_k; their mean is no farther."""
    mu, least, most, delta = map(parameter, ("mu", "convexity", "L_f", "delta"))
    a, d, slope = answers - minimiser, answers - server(0), objective_gradient(answers)
    grows = 2 / (most - least) * (by(Between(answers, minimiser)) + squared(slope - least * a))
    left = slope + mu * d
    bounded = mu / delta**2 * (by(Similar(answers, server(0))) + squared(left - delta**2 / mu * a))
    scale = mu + 2 * least - delta**2 / mu
    return Derivation((concluding(claim, 1 / scale * (grows + bounded) + jensen(a)),))


@proof_of(dane.PAPER.find("gradientsofsimilarclients"))
def gradients_of_similar_clients(claim: Claim) -> Derivation:
    """The differences ∇F_k − ∇f change by at most δ‖w − w*‖ from what they are at w*."""
    w, x, delta = server(0), minimiser, parameter("delta")
    change = gradient(w) - mean(gradient(w)) - gradient(x)
    away = rooted(norm(change), delta * norm(w - x), by(Similar(w, x)), "the change")
    parts = cited("the change, squared") + 2 * norm(gradient(x)) * cited("the change")
    parts += 2 * cauchy_schwarz(change, gradient(x))
    return Derivation((*away, *rooted(claim.left, claim.right, parts, "both")))
