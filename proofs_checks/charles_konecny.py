"""The statements on local surrogates beside the running code: rounds, fixed points and their contraction, exactly.

They are formulas about quadratic clients, so that nothing of them is PROVED: they are compared on exact instances.
"""

from fractions import Fraction
from typing import Any

import fedconvex as fc
from fedconvex.proofs_checks.evidence import CodeComparison
from fedconvex.proofs_checks.remarks import Remarks, remarks_on
from fedconvex.statements.statement import Statement
from fedconvex.theory import charles_konecny

F = Fraction
STEPSIZE = F(1, 16)


def quadratics(number: int) -> dict[str, list[Any]]:
    """Curvatures, minimisers and weights of one to three clients on the line."""
    m = number % 3 + 1
    shares = [F(k + 1 + number % 2) for k in range(m)]
    return {
        "curvatures": [F((7 * k + 3 * number) % 11 + 1) for k in range(m)],
        "minimisers": [F((5 * k + number) % 9 - 4, k + 1) for k in range(m)],
        "weights": [share / sum(shares) for share in shares],
    }


def problem(clients: dict[str, list[Any]]) -> fc.Quadratic:
    """The clients ½a_k(x − c_k)² with their weights."""
    a, c = clients["curvatures"], clients["minimisers"]
    linear = [[x * y] for x, y in zip(a, c, strict=True)]
    return fc.Quadratic([[[x]] for x in a], linear, weights=clients["weights"])


def after_a_round(method: Any, clients: dict[str, list[Any]], start: Fraction) -> Fraction:
    """The server's point after a round from there."""
    run = fc.simulate(method, problem(clients), 1, x0=[start], arithmetic="exact")
    return F(run.points[1][0])


def curvature(formula: Any, number: int) -> tuple[Any, Any]:
    """q(a), and how far a round moves the point 1 of the single client ½ax², divided by s."""
    a, e = F(number % 7 + 1), number % 4 + 1
    alone = {"curvatures": [a], "minimisers": [F(0)], "weights": [F(1)]}
    moved = 1 - after_a_round(fc.FedGD(stepsize=STEPSIZE, local_steps=e), alone, F(1))
    return formula(stepsize=STEPSIZE, local_steps=e, curvature=a), moved / STEPSIZE


def rests(formula: Any, number: int) -> tuple[Any, Any]:
    """The formula's point, and FedGD's fixed point."""
    clients, e = quadratics(number), number % 4 + 1
    method = fc.FedGD(stepsize=STEPSIZE, local_steps=e)
    found = fc.fixed_point(method, problem(clients), arithmetic="exact").point[0]
    return formula(stepsize=STEPSIZE, local_steps=e, **clients), found


def condition(formula: Any, number: int) -> tuple[Any, Any]:
    """κ_e, and the quotient of what a round takes off the points 1 of ½Lx² and ½μx²."""
    mu, L, e = F(1, number + 1), F(number % 5 + 1), number % 4 + 1
    method = fc.FedGD(stepsize=STEPSIZE, local_steps=e)
    alone = [{"curvatures": [a], "minimisers": [F(0)], "weights": [F(1)]} for a in (L, mu)]
    most, least = (1 - after_a_round(method, one, F(1)) for one in alone)
    return formula(stepsize=STEPSIZE, local_steps=e, mu=mu, L=L), most / least


COMPARE = {"surrogatecurvature": curvature, "fixedpoint": rests, "conditionnumber": condition}


@remarks_on(*(charles_konecny.PAPER.find(key) for key in COMPARE))
def remarks(statement: Statement) -> Remarks:
    """The comparison with the running code."""
    compare, formula = COMPARE[statement.identifier.partition(".")[2]], statement.calculator.formula
    line = CodeComparison(statement.latex, "exact rounds of FedGD", "", lambda number: compare(formula, number))
    return Remarks(compared=(line,))
