"""The statements on clients with different numbers of local steps beside the running code, exactly."""

from typing import Any

import fedconvex as fc
from fedconvex.proofs_checks.charles_konecny import STEPSIZE, problem, quadratics
from fedconvex.proofs_checks.evidence import CodeComparison
from fedconvex.proofs_checks.remarks import Remarks, remarks_on
from fedconvex.statements.statement import Statement
from fedconvex.theory import fednova


def steps(number: int) -> list[int]:
    """Numbers of local steps, one for each client of `quadratics`."""
    return [(3 * k + number) % 4 + 1 for k in range(number % 3 + 1)]


def rests(method: Any, formula: Any, number: int) -> tuple[Any, Any]:
    """The formula's point, and the method's fixed point."""
    clients, tau = quadratics(number), steps(number)
    played = method(stepsize=STEPSIZE, local_steps=tuple(tau))
    found = fc.fixed_point(played, problem(clients), arithmetic="exact").point[0]
    return formula(stepsize=STEPSIZE, steps=tau, **clients), found


def reweighted(formula: Any, number: int) -> tuple[Any, Any]:
    """The formula's point, and the minimiser of the clients with the weights p_k τ_k."""
    clients, tau = quadratics(number), steps(number)
    shares = [p * t for p, t in zip(clients["weights"], tau, strict=True)]
    other = problem({**clients, "weights": [share / sum(shares) for share in shares]})
    return formula(steps=tau, **clients), fc.ground_truth(other).exact_point[0]


COMPARE: dict[str, Any] = {
    "fixedpointoffedavg": lambda formula, number: rests(fc.FedGD, formula, number),
    "fixedpointoffednova": lambda formula, number: rests(fc.FedNova, formula, number),
    "inconsistentobjective": reweighted,
}


@remarks_on(*(fednova.PAPER.find(key) for key in COMPARE))
def remarks(statement: Statement) -> Remarks:
    """The comparison with the running code."""
    compare, formula = COMPARE[statement.identifier.partition(".")[2]], statement.calculator.formula
    line = CodeComparison(statement.latex, "exact fixed points", "", lambda number: compare(formula, number))
    return Remarks(compared=(line,))
