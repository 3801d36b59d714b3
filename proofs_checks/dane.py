"""The proof of the statement on DANE, built from the multipliers that `discover` found.

`discover` computed exact multipliers of worst-case proofs at several parameters and fitted rational functions to them.
Only those formulas remain here, and the kernel replays the proof like any other.
"""

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from fedconvex.claims.claim import Claim
from fedconvex.claims.terms import answers, gradient, mean, parameter, server
from fedconvex.methods.dane import DANE
from fedconvex.proofs_checks.claims import proof_of
from fedconvex.proofs_checks.kernel.proofs import Derivation
from fedconvex.proofs_checks.library import Parts, concluding, interpolation, squared
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
