"""Error floors that quadratics attain, exactly: where a method's fixed point is, or how noise spreads around it."""

from fractions import Fraction
from typing import Any

from fedconvex.arithmetic.rationals import to_fmpq, to_fraction
from fedconvex.local_solvers.base import LocalSolver
from fedconvex.proofs_checks.search.lyapunov.coordinates import memories_at_rest
from fedconvex.proofs_checks.search.lyapunov.drawn_federations import counts_to_try
from fedconvex.proofs_checks.search.lyapunov.priced_rounds import PricedRound
from fedconvex.proofs_checks.search.lyapunov.quadratic_federations import BETWEEN, OnALine, trial_federations
from fedconvex.proofs_checks.search.lyapunov.quadratic_rounds import QuadraticBoard
from fedconvex.proofs_checks.search.lyapunov.second_moments import NOISE, PULL, Groups, second_moments
from fedconvex.proofs_checks.worst_cases.programs.quadratic_forms import DEVIATION, MEAN, ONE, ZERO, Family
from fedconvex.proofs_checks.worst_cases.questions.specification import Specification
from fedconvex.proofs_checks.worst_cases.questions.symbolic_rounds import outcomes


def attained_floor(posed: PricedRound, spec: Specification, cause: str, variance: Fraction) -> Fraction:
    """The largest squared error, per unit of σ² or ζ*², that some trial federations keep; 0 where none is known.

    `variance`: of the clients' mean noise, in units of σ².
    """
    low, high, m = spec.clients.lowest, spec.clients.highest, spec.draws.clients
    alike = dict.fromkeys(low + (high - low) * Fraction(i, BETWEEN) for i in range(BETWEEN + 1))
    if cause == NOISE and spec.draws.everyone:
        return variance * max(_spread(posed, spec, [(a, 1)], cause) for a in alike)
    if spec.draws.everyone:
        return max(_bias(posed, spec.solver, one) for one in trial_federations(spec.clients, "any"))
    tried = [[(a, m)] for a in alike]
    if cause == PULL:
        ends = ((low, high), (low, (low + high) / 2), ((low + high) / 2, high))
        tried += [[(a, n), (b, m - n)] for n in counts_to_try(m) for a, b in ends]
    return max(_spread(posed, spec, groups, cause) for groups in tried)


def _spread(posed: PricedRound, spec: Specification, groups: Groups, cause: str) -> Fraction:
    """The stationary E‖w − x*‖² of clients in these groups, in units of the disturbance."""
    found, memories = posed.coordinates, posed.coordinates.deviation.vectors
    moments = second_moments(spec.method, spec.solver, spec.draws, groups, memories_at_rest(found), disturbed=cause)
    measured: dict[str, Any] = {}
    for c, row in zip(posed.measured, found.mean.read, strict=True):
        for name, x in zip(found.mean.vectors, row, strict=True):
            key = f"{name} 0" if name in memories else name
            measured[key] = measured.get(key, ZERO) + c * x
    size = moments.stationary(measured)
    return Fraction(0) if size is None else max(to_fraction(size), Fraction(0))


def _bias(posed: PricedRound, solver: LocalSolver, federation: Any) -> Fraction:
    """The squared distance of a memoryless method's fixed point from the minimiser, where mean‖∇F_k(x*)‖² = 1."""
    found = posed.coordinates
    board: Any = QuadraticBoard(0, federation, Family({(DEVIATION, PULL): ONE}))
    begun = {(MEAN, 0): Family({(MEAN, "w"): ONE})}
    [(_, state)] = outcomes(found.method, solver, board, found.state(begun))
    after = found.of(state)[MEAN, 0].parts
    left = 1 - after.get((MEAN, "w"), ZERO)
    if not left:
        return Fraction(0)
    share = federation.share if isinstance(federation, OnALine) else None
    if share == 1:
        return Fraction(0)
    # The two groups' deviations are 1 − p and −p times the coordinate, in a plane they have its length.
    size = ONE if share is None else to_fmpq(share * (1 - share))
    return to_fraction((after.get((MEAN, PULL), ZERO) / left) ** 2 / size)
