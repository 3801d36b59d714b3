"""The affine map of one round on quadratic clients, obtained by playing the method's own code once on linear forms.

The map s ↦ Ms + q acts on the whole state (the server's point and the clients' memories). Use it for small problems
and methods without a closed form; fixed points, uniqueness and attraction are then decided exactly. Of rounds that are
local at random it is the expected one.
"""

import warnings
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import flint
import numpy as np

from fedconvex import arithmetic as arithmetics
from fedconvex.arithmetic.definiteness import certifies_positive_definite, null_space
from fedconvex.arithmetic.interruptible import interruptible
from fedconvex.arithmetic.rationals import Array, float_array, fraction_array
from fedconvex.certainty import Certainty
from fedconvex.errors import InvalidInput, NoFixedPoint
from fedconvex.fixed_points.linear_forms import (
    ONE,
    AffineClients,
    coefficients,
    constants,
    kinds_of_rounds,
    played_on_forms,
    refusing,
    require_alike,
)
from fedconvex.local_solvers.base import Answers
from fedconvex.methods.base import State
from fedconvex.participation import Draw
from fedconvex.problems.quadratics import QuadraticClients
from fedconvex.runs.rounds import RoundResult, Rounds, rounds_of

NEAR = 1e-6  # the relative change of a state whose effect rounding in a round may have in floats
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
        """The map of one of these rounds, which must be in exact arithmetic.

        Raises InvalidInput where a round is not affine in the state.
        """
        size = len(rounds.start(rounds.arithmetic.array(np.zeros(rounds.clients.dim, dtype=int))).flat())
        rounds.arithmetic.require_room(size, size, COPIES)
        with refusing(rounds.method):
            start, image = played_on_forms(on_forms(rounds))
            return OneRoundMap(
                M=coefficients(image, range(size)),
                q=_entries(coefficients(image, [ONE])),
                start=_entries(coefficients(start, [ONE])),
                directions=coefficients(start, range(rounds.clients.dim)),
                dim=rounds.clients.dim,
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
        if not self.conserved:
            return True
        # a start x0 moves the fixed state by `moved` x0 where it moves no conserved quantity that grows
        moved, conserved = _conserving(self.M, self.directions, (self.M - _identity(len(self.q))) * self.directions)
        growing = [grows for _, grows in conserved if any(grows)]
        starts = null_space(_matrix(growing)) if growing else _rows(_identity(self.dim))
        return not any(any(_entries(moved * _column(x0))[: self.dim]) for x0 in starts)

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
        V = _krylov(self.M, [*_rows(self.directions.transpose()), offset]).transpose()
        gram = V.transpose() * V
        M = gram.solve(V.transpose() * self.M * V) if V.ncols() else flint.fmpq_mat(0, 0)
        # observability is reachability for the transposed map
        O = _krylov(M.transpose(), _rows(_identity(V.nrows(), self.dim) * V))
        M = O * M * _right_inverse(O) if O.nrows() else flint.fmpq_mat(0, 0)
        integers, denominator = M.numer_denom()
        return roots_inside_unit_circle([int(c) for c in integers.charpoly().coeffs()], int(denominator))

    @cached_property
    def seen(self) -> tuple["OneRoundMap", flint.fmpq_mat]:
        """The map of what the server's point ever depends on, and a matrix that makes a state of that."""
        O = _krylov(self.M.transpose(), _rows(_identity(len(self.q), self.dim)))  # begins with the server's point
        states = _right_inverse(O)
        q, start = (_entries(O * _column(vector)) for vector in (self.q, self.start))
        return OneRoundMap(O * self.M * states, q, start, O * self.directions, self.dim), states

    @cached_property
    def _contracts(self) -> bool:
        """Whether a Lyapunov function proves convergence of all states with the conserved quantities of the starts.

        On that invariant subspace, P ≻ 0 and P − MᵀPM ≻ 0 for some P, which is computed in floats and then certified
        in balls. False means only that no proof was found.
        """
        conserved = self.conserved
        basis = list(np.eye(len(self.q), dtype=int))
        if conserved:
            L = _matrix(conserved)
            moved = [*_rows(L * self.directions), _entries(L * _column(self.start - self.fixed_state))]
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
    def conserved(self) -> list[Array]:
        """The v for which rounds change vᵀs by the same amount from every state s."""
        return null_space((_identity(len(self.q)) - self.M).transpose())


def on_forms(rounds: Rounds) -> Rounds:
    """Exact rounds of quadratic clients that take forms as numbers."""
    own = rounds.clients
    assert isinstance(own, QuadraticClients)
    return replace(rounds, clients=AffineClients(rounds.arithmetic, own.num_clients, own.dim, own))


def confirm(rounds: Rounds, state: State, whole: bool = True) -> None:
    """Raises an error unless rounds of the method's code keep the state, or (`whole` False) the server's point."""
    for _, draw in kinds_of_rounds(rounds.method):
        with refusing(rounds.method):
            try:
                kept = _is_kept(rounds, state, draw, whole)
            except TypeError:  # flint's rationals take no floats as factors; forms do
                if rounds.arithmetic.certainty is not Certainty.EXACT or rounds.regularizer is not None:
                    raise
                kept = _is_kept(on_forms(rounds), state.mapped(constants), draw, whole)
        if kept:
            continue
        if rounds.method.skip != 0:
            raise NoFixedPoint(
                "there is no fixed point: local rounds and rounds with communication keep no common state, and runs "
                "never come to rest; fedconvex.simulate shows how far they move"
            )
        numbers = rounds.arithmetic.name
        problem = f"has rounds in {numbers} numbers that move the fixed point of its own formulas"
        cure = "let its code compute the same whenever it is called with the same arguments, whatever their type"
        raise InvalidInput("method", rounds.method, problem, cure)


def _is_kept(rounds: Rounds, state: State, draw: Draw, whole: bool) -> bool:
    """Whether a round may end where it begins: exactly in rationals, within balls, and up to rounding in floats.

    Rounding errors in floats have the size that a relative change of the state by NEAR has, or NEAR times the answers.
    """
    certainty, answers = rounds.arithmetic.certainty, None

    def seen(of: State) -> Array:
        return of.flat() if whole else of.server

    def played(at: State) -> RoundResult:
        found = rounds.play(at, draw, answers=answers)
        assert found is not None
        require_alike(at, found.state)
        # a memory that does not rest may move the point later
        for _ in () if whole else range(len(at.shared) + len(at.memory)):
            found = rounds.play(found.state, draw) or found
        return found

    first = played(state)
    begun, after = seen(state), seen(first.state)
    if certainty is Certainty.EXACT:
        return bool(np.all(begun == after))
    if certainty is Certainty.ENCLOSED:
        return all(one.overlaps(other) for one, other in zip(begun, after, strict=True))
    allowed = abs(seen(played(state.mapped(lambda part: part + NEAR * part)).state) - after).max()
    allowed += NEAR * max(abs(begun).max(), abs(first.answers.points).max())
    if whole and abs(after - begun).max() > allowed:  # by rounding in the answers to stiff subproblems?
        answers = _accurate_answers(rounds, state, draw)
        after = seen(played(state).state)
    return bool(abs(after - begun).max() <= allowed)


def _accurate_answers(rounds: Rounds, state: State, draw: Draw) -> Answers:
    """The clients' answers, computed in balls and rounded to floats."""
    balls = arithmetics.get("ball")
    with balls.context():
        accurate = rounds_of(rounds.method, rounds.problem, balls, rounds.solver, regularizer=rounds.regularizer)
        played = accurate.play(state.mapped(balls.array), draw)
        assert played is not None
        lengths = played.answers.path_lengths
        return Answers(balls.to_float(played.answers.points), None if lengths is None else balls.to_float(lengths))


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


def _krylov(M: flint.fmpq_mat, starts: list[Array]) -> flint.fmpq_mat:
    """A basis, in rows, of the smallest M-invariant subspace with the starts."""
    basis: list[Array] = []
    queue = [v for v in starts if any(v)]
    while queue:
        v = queue.pop(0)
        if _matrix([*basis, v]).rank() > len(basis):
            basis.append(v)
            queue.append(_entries(M * _column(v)))
    return _matrix(basis) if basis else flint.fmpq_mat(0, M.nrows())


def _right_inverse(O: flint.fmpq_mat) -> flint.fmpq_mat:
    return O.transpose() * (O * O.transpose()).inv()


def _conserving_fixed_state(M: flint.fmpq_mat, q: Array, start: Array) -> Array:
    """The fixed state of s ↦ Ms + q with the conserved quantities of the start; NoFixedPoint where there is none."""
    begin = _column(start)
    state, conserved = _conserving(M, begin, M * begin + _column(q) - begin)
    for witness, (grows,) in conserved:
        if grows != 0:
            raise NoFixedPoint(
                "there is no fixed point: some combination of the server's point and the clients' memories grows "
                "by the same amount in every round",
                witness=fraction_array(witness),
            )
    return _entries(state)


def _conserving(
    M: flint.fmpq_mat, starts: flint.fmpq_mat, moved: flint.fmpq_mat
) -> tuple[flint.fmpq_mat, list[tuple[Array, list[Any]]]]:
    """Fixed states with the conserved quantities of the starts, which a round moves so; and these quantities.

    A left eigenvector v of M with eigenvalue 1 gives vᵀs, which every round changes by as much: there is a fixed state
    only where that is 0. The loop restricts the map to the subspace on which all vᵀs vanish, relative to the start,
    until 1 is no longer an eigenvalue (more than one pass is needed where 1 has a Jordan block).
    """
    to_state, conserved = _identity(M.nrows()), list[tuple[Array, list[Any]]]()  # states are starts + to_state · y
    while True:
        drift = _identity(M.nrows()) - M
        kept = null_space(drift.transpose())
        if not kept:
            return starts + to_state * drift.solve(moved), conserved
        changes = (_matrix(kept) * moved).tolist()
        conserved += [(_entries(to_state * _column(v)), change) for v, change in zip(kept, changes, strict=True)]
        left = null_space(_matrix(kept))
        if not left:
            return starts, conserved
        V = _matrix(left).transpose()
        gram = V.transpose() * V
        M, moved = gram.solve(V.transpose() * M * V), gram.solve(V.transpose() * moved)
        to_state = to_state * V


def _identity(size: int, rows: int | None = None) -> flint.fmpq_mat:
    """The identity, or its first rows."""
    rows = size if rows is None else rows
    return flint.fmpq_mat(rows, size, [int(i == j) for i in range(rows) for j in range(size)])


def _column(vector: Array) -> flint.fmpq_mat:
    return flint.fmpq_mat(len(vector), 1, list(vector))


def _matrix(rows: list[Array]) -> flint.fmpq_mat:
    return flint.fmpq_mat(len(rows), len(rows[0]), [entry for row in rows for entry in row])


def _rows(matrix: flint.fmpq_mat) -> list[Array]:
    return [np.array(row, dtype=object) for row in matrix.tolist()]


def _entries(column: flint.fmpq_mat) -> Array:
    return np.array(column.entries(), dtype=object)
