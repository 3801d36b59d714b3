"""The affine map of one round on quadratic clients, obtained by running the method's own code in rationals.

The map s ↦ Ms + q acts on the whole state (the server's point and the clients' memories). Use it for small problems
and methods without a closed form; fixed points, uniqueness and attraction are then decided exactly.
"""

import warnings
from dataclasses import dataclass
from functools import cached_property

import flint
import numpy as np

from fedconvex import arithmetic as arithmetics
from fedconvex.arithmetic.definiteness import certifies_positive_definite, null_space
from fedconvex.arithmetic.interruptible import interruptible
from fedconvex.arithmetic.rationals import Array, float_array, fraction_array
from fedconvex.errors import NoFixedPoint
from fedconvex.runs.rounds import Rounds

COPIES = 8  # of the map: it, its unit vectors, its columns as lists
DECIDABLE_BITS = 300_000  # (state size)² times the longest number, up to which eigenvalues are decided exactly


@dataclass(frozen=True, eq=False)
class OneRoundMap:
    """The map s ↦ Ms + q, with start states s_0 = start + directions · x0 and the server's point s[:dim]."""

    M: flint.fmpq_mat
    q: Array
    start: Array
    directions: flint.fmpq_mat
    dim: int

    @staticmethod
    def of(rounds: Rounds) -> "OneRoundMap":
        """The map of one of these rounds, which must be in exact arithmetic."""
        dim, zero = rounds.clients.dim, rounds.arithmetic.array(np.zeros(rounds.clients.dim, dtype=int))
        origin = rounds.start(zero)
        start = origin.flat()
        rounds.arithmetic.require_room(len(start), len(start), COPIES)
        unit_starts = [rounds.start(_unit(dim, i)).flat() for i in range(dim)]
        q = rounds.advance(origin.with_values(0 * start)).flat()  # the image of the state 0
        size = len(start)
        derivative = rounds.tangent(origin)  # of an affine map: the same everywhere
        columns = [derivative(origin.with_values(_unit(size, i))).flat() for i in range(size)]
        return OneRoundMap(
            M=_matrix(columns).transpose(),
            q=q,
            start=start,
            directions=_matrix([s - start for s in unit_starts]).transpose(),
            dim=dim,
        )

    @cached_property
    def fixed_state(self) -> Array:
        """The fixed state with the same conserved quantities as the start from the origin.

        Only this one can be the limit of the rounds from the origin: a linear combination of the state that no round
        changes keeps its initial value. Raises NoFixedPoint where there is none.
        """
        return interruptible(lambda: _conserving_fixed_state(self.M, self.q, self.start), [self.M])

    @property
    def point(self) -> Array:
        """The server's point of `fixed_state`."""
        return self.fixed_state[: self.dim]

    @cached_property
    def unique(self) -> bool:
        """Whether all fixed states that some start can reach have the same server's point.

        Other fixed states may exist: their conserved quantities (such as the anchor of `RegularizedFedSplit`) have
        values that no start gives them.
        """
        return interruptible(self._is_unique, [self.M])

    def _is_unique(self) -> bool:
        if not null_space(self._drift):
            return True
        zero = 0 * self.q
        for direction in _rows(self.directions.transpose()):
            try:
                moved = _conserving_fixed_state(self.M, zero, direction)
            except NoFixedPoint:
                continue  # rounds from a start in this direction have no limit
            if any(moved[: self.dim]):
                return False
        return True

    @cached_property
    def attracting(self) -> bool | None:
        """Whether the server's point converges to `point` from every start; None where the numbers are too long.

        A Lyapunov function in balls proves most cases (`_contracts`). Otherwise the map is restricted to the states
        that starts can reach, then reduced to what influences the server's point (Kalman's decomposition): the rounds
        converge iff all roots of the characteristic polynomial of the rest lie inside the unit circle (Schur–Cohn).
        """
        if not self.unique:
            return False
        if self._contracts:
            return True
        if self.dim > 1 and len(self.q) ** 2 * _bits(self.M) > DECIDABLE_BITS:
            return None
        offset = self.start - self.fixed_state
        return interruptible(lambda: self._settles(offset), [self.M])

    def _settles(self, offset: Array) -> bool:
        reachable = [*_rows(self.directions.transpose()), offset]
        M, observed = _restrict(self.M, reachable, _server_rows(self.dim, len(self.q)))
        # observability is reachability for the transposed map
        M, _ = _restrict(M.transpose(), observed, [])
        integers, denominator = M.numer_denom()
        return roots_inside_unit_circle([int(c) for c in integers.charpoly().coeffs()], int(denominator))

    @cached_property
    def _contracts(self) -> bool:
        """Whether a Lyapunov function proves convergence of all states with the conserved quantities of the starts.

        On that invariant subspace, P ≻ 0 and P − MᵀPM ≻ 0 for some P, which is computed in floats and then certified
        in balls. False means only that no proof was found.
        """
        conserved = null_space(self._drift.transpose())
        basis = list(np.eye(len(self.q), dtype=int))
        if conserved:
            L = _matrix(conserved)
            moved = [*_rows(L * self.directions), _entries(L * _matrix([self.start - self.fixed_state]).transpose())]
            if any(any(row) for row in moved):
                return False
            basis = null_space(L)
        balls = arithmetics.get("ball")
        with balls.context():
            V = flint.arb_mat(_matrix([[flint.fmpq(int(e)) for e in v] for v in basis]).transpose())
            M = (V.transpose() * V).solve(V.transpose() * flint.arb_mat(self.M) * V)
            P = _lyapunov(float_array(np.array(M.entries(), dtype=object)).reshape(len(basis), -1))
            if P is None:
                return False
            exact = balls.matrix(P)
            return certifies_positive_definite(exact) and certifies_positive_definite(exact - M.transpose() * exact * M)

    @cached_property
    def _drift(self) -> flint.fmpq_mat:
        return _identity(len(self.q)) - self.M


def _lyapunov(M: np.ndarray) -> np.ndarray | None:
    """A symmetric P in floats with P − MᵀPM ≈ D², the squared column norms of M; None where M is not stable.

    This scaling keeps the certificate of P − MᵀPM well conditioned where columns differ in size.
    """
    from scipy.linalg import LinAlgError, solve_discrete_lyapunov

    with arithmetics.get("float").context():
        if not np.isfinite(M).all() or max(abs(np.linalg.eigvals(M))) >= 1:
            return None
        norms = np.linalg.norm(M, axis=0)
        scale = np.where(norms > 0, norms, 1.0)
        try:
            with warnings.catch_warnings(action="ignore"):  # ill-conditioning does no harm: P is certified afterwards
                P = solve_discrete_lyapunov(M.T, np.diag(scale**2))
        except LinAlgError:
            return None
        return (P + P.T) / 2 if np.isfinite(P).all() else None


def _bits(matrix: flint.fmpq_mat) -> int:
    """The bits of the longest numerator, or of the common denominator."""
    numerators, denominator = matrix.numer_denom()
    return max(max(abs(int(n)).bit_length() for n in numerators.entries()), int(denominator).bit_length())


def roots_inside_unit_circle(coefficients: list[int], scale: int = 1) -> bool:
    """Whether |z/scale| < 1 for every root z of Σ_i coefficients[i] z^i, by the exact Schur–Cohn test.

    A polynomial p = aₙzⁿ + … + a₀ has all roots inside the unit circle iff |a₀| < |aₙ| and (aₙp − a₀p*)/z has, where p*
    has the coefficients of p in reverse order.
    """
    p = flint.fmpz_poly([c * scale**i for i, c in enumerate(coefficients)])  # its roots are z/scale
    while p.degree() > 0:
        a = [int(c) for c in p.coeffs()]
        if abs(a[0]) >= abs(a[-1]):
            return False
        reduced = [a[-1] * x - a[0] * y for x, y in zip(a, reversed(a), strict=True)][1:]
        p = flint.fmpz_poly(reduced)
        p = flint.fmpz_poly([int(c) // int(p.content()) for c in p.coeffs()])  # or lengths would double every step
    return True


def _restrict(M: flint.fmpq_mat, starts: list[Array], functionals: list[Array]) -> tuple[flint.fmpq_mat, list[Array]]:
    """M and the linear functionals, restricted to the smallest M-invariant subspace with the starts, in a basis."""
    basis: list[Array] = []
    queue = [v for v in starts if any(v)]
    while queue:
        v = queue.pop(0)
        if _matrix([*basis, v]).rank() > len(basis):
            basis.append(v)
            queue.append(_entries(M * _matrix([v]).transpose()))
    if not basis:
        return flint.fmpq_mat(0, 0), []
    V = _matrix(basis).transpose()
    gram = V.transpose() * V
    restricted = gram.solve(V.transpose() * M * V)
    seen = [_entries(V.transpose() * _matrix([f]).transpose()) for f in functionals]
    return restricted, seen


def _conserving_fixed_state(M: flint.fmpq_mat, q: Array, start: Array) -> Array:
    """The fixed state of s ↦ Ms + q with the same conserved quantities as the start; NoFixedPoint where there is none.

    A left eigenvector v of M with eigenvalue 1 and vᵀq = 0 gives the conserved quantity vᵀs. The loop restricts the map
    to the subspace on which these vanish, relative to the start, until 1 is no longer an eigenvalue (more than one
    pass is needed where 1 has a Jordan block).
    """
    offset, to_state = start, None  # s = offset + to_state · y
    q = _entries(M * _matrix([start]).transpose()) + q - start
    while True:
        drift = _identity(len(q)) - M
        conserved = null_space(drift.transpose())
        for v in conserved:
            if np.dot(v, q) != 0:
                witness = v if to_state is None else _entries(to_state * _matrix([v]).transpose())
                raise NoFixedPoint(
                    "there is no fixed point: some combination of the server's point and the clients' memories grows "
                    "by the same amount in every round",
                    witness=fraction_array(witness),
                )
        if not conserved:
            y = _entries(drift.solve(_matrix([q]).transpose()))
            return offset + (y if to_state is None else _entries(to_state * _matrix([y]).transpose()))
        left = null_space(_matrix(conserved))
        if not left:
            return offset
        V = _matrix(left).transpose()
        gram = V.transpose() * V
        M, column = gram.solve(V.transpose() * M * V), gram.solve(V.transpose() * _matrix([q]).transpose())
        q = _entries(column)
        to_state = V if to_state is None else to_state * V


def _server_rows(dim: int, size: int) -> list[Array]:
    return [_unit(size, i) for i in range(dim)]


def _identity(size: int) -> flint.fmpq_mat:
    return flint.fmpq_mat(size, size, [int(i == j) for i in range(size) for j in range(size)])


def _unit(size: int, i: int) -> Array:
    return np.array([flint.fmpq(int(i == j)) for j in range(size)], dtype=object)


def _matrix(rows: list[Array]) -> flint.fmpq_mat:
    return flint.fmpq_mat(len(rows), len(rows[0]), [entry for row in rows for entry in row])


def _rows(matrix: flint.fmpq_mat) -> list[Array]:
    return [np.array(row, dtype=object) for row in matrix.tolist()]


def _entries(column: flint.fmpq_mat) -> Array:
    return np.array(column.entries(), dtype=object)
