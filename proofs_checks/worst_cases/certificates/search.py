"""The search for a certificate: from floating-point multipliers to rational ones that are an exact proof.

A solver's multipliers are nearly a proof. They become one by rounding to simple fractions, by reading rationals off a
refined solution, by solving exactly for those that make the form vanish on a worst instance, or by a small move towards
the interior, which costs a little of the bound. Whatever is found counts only as a `DualCertificate`.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from itertools import chain
from operator import mul
from typing import Any, final

from flint import fmpq

from fedconvex.arithmetic.linear_systems import Rows, echelon
from fedconvex.arithmetic.rationals import to_fmpq, to_fraction
from fedconvex.proofs_checks.worst_cases.certificates.certificate import DualCertificate
from fedconvex.proofs_checks.worst_cases.programs.program import Program
from fedconvex.proofs_checks.worst_cases.programs.quadratic_forms import ONE, ZERO
from fedconvex.proofs_checks.worst_cases.programs.refinement import RefinedSolution, refine
from fedconvex.proofs_checks.worst_cases.programs.solver import Proposal, propose

DENOMINATORS = (12, 1000, 10**6)  # of simple fractions near a proposal
LONG_DENOMINATORS = (10**4, 10**8, 10**12)  # of rationals that agree with a refined solution
CLOSE = 1e-6  # relative distance of simple fractions from a proposal
UNUSED = 1e-7  # a multiplier of this relative size may be 0
SAME = 1e-30  # relative distance of a rational from refined digits: it is then meant, not an accident
FEW = 6  # inequalities up to which a proof is first sought without a solver

Vectors = Sequence[Sequence[Any]]  # one vector for every block
Candidate = tuple[Any, list[Any]]  # t and the multipliers


@final
@dataclass(frozen=True, eq=False)
class Target:
    """A value t that instances attain, as a flint rational, and their vectors: no proof of less than t exists.

    On these vectors the form of a proof of just t vanishes (complementary slackness). They are computed when they are
    looked at: the first few determine most proofs.
    """

    t: Any
    vectors_of: Sequence[Callable[[], Vectors]]

    @property
    def vectors(self) -> Iterator[Vectors]:
        """One instance's vectors after the other."""
        return (of_one() for of_one in self.vectors_of)


@final
@dataclass(frozen=True, eq=False)
class Search:
    """A certificate, if one was found, and what may help to find an instance: the solver's proposal, refined."""

    certificate: DualCertificate | None
    proposal: Proposal | None = None  # None: no solver was needed
    refined: list[RefinedSolution] = field(default_factory=list)

    @property
    def status(self) -> str:
        """The solver's status."""
        return "not needed" if self.proposal is None else self.proposal.status


def certify(
    program: Program, target: Target | None, suffices: Callable[[DualCertificate], bool], twice: bool = False
) -> Search:
    """A proof of the least t of a program, or of a little more.

    Args:
        program: as small as possible; see `certify_reduced` for programs whose solution has no interior.
        target: what a proof of the least t has to reach, where that is known.
        suffices: decides whether a proof that follows from the target alone ends the search.
        twice: as of `propose`.
    """
    if target is not None and len(program.inequalities) <= FEW:
        certificate = certify_target(program, target)
        if certificate is not None and suffices(certificate):
            return Search(certificate)
    search = _certify_near(program, target, twice)
    if search.certificate is not None:
        return search
    found, first = certify_reduced(program)[0], search.proposal
    if found is None and first is not None and first.is_solved:
        # A vector may be in inequalities alone that no good proof uses: then its rows are 0 in the form of each.
        largest = max(first.multipliers, default=0.0)
        used = {
            name for (name, _), x in zip(program.inequalities, first.multipliers, strict=True) if x > UNUSED * largest
        }
        found = _certify_part(program, program.only(used), None)[0]
    return replace(search, certificate=found)


def certify_reduced(program: Program, guess: Fraction | None = None) -> tuple[DualCertificate | None, Proposal]:
    """A proof that leaves out useless inequalities, of the guessed t where the solver's is close to it.

    Use it where the form of every proof has zero rows, so that no multipliers lie in the interior.
    """
    return _certify_part(program, program.without_useless(), guess)


def _certify_part(
    program: Program, smaller: Program, guess: Fraction | None
) -> tuple[DualCertificate | None, Proposal]:
    """A proof of the program by a part of its inequalities."""
    search = _certify_near(smaller, None if guess is None else Target(to_fmpq(guess), []), twice=True)
    found, proposal = search.certificate, search.proposal
    assert proposal is not None
    if found is None and proposal.is_solved:
        found = _first_proof(smaller, _towards_a_face(smaller, proposal))
    return None if found is None else _of_whole(program, smaller, found), proposal


def _of_whole(program: Program, smaller: Program, found: DualCertificate) -> DualCertificate:
    """The proof by some of a program's inequalities as one of the whole, which is checked again: others count 0."""
    multipliers = dict(zip((name for name, _ in smaller.inequalities), found.multipliers, strict=True))
    whole = tuple(multipliers.get(name, Fraction(0)) for name, _ in program.inequalities)
    return DualCertificate(program, found.t, whole)


def certify_by(program: Program, smaller: Program, target: Target | None) -> Search:
    """A proof of just the least t, where that is rational, by some of the inequalities; none where it takes others."""
    search = _certify_near(smaller, target, twice=False, exactly=True)
    found = search.certificate
    return search if found is None else replace(search, certificate=_of_whole(program, smaller, found))


def certify_least(program: Program, target: Target | None) -> DualCertificate | None:
    """A proof of exactly the least t, where that is a rational number that can be identified; else None."""
    found = None if target is None else certify_target(program, target)
    if found is not None:
        return found
    proposal = propose(program)
    found = None if target is None else certify_exactly(program, proposal, target)
    if found is None and proposal.is_solved:
        found = _first_proof(program, _read_off(program, refine(program, proposal)))
    return found


def certify_target(program: Program, target: Target) -> DualCertificate | None:
    """A proof of the target's t whose multipliers follow from what must vanish, without a solver; None without one."""
    found = balanced(program, target.t, [ONE] * len(program.inequalities), target.vectors)
    return None if found is None else _first_proof(program, iter([(target.t, found)]))


def certify_exactly(program: Program, proposal: Proposal, target: Target) -> DualCertificate | None:
    """A proof of exactly the target's t near the proposal; None where none is found.

    On the vectors of a worst instance the quadratic form vanishes: linear equations for the multipliers, from which
    rational ones of any size are found.
    """
    if not proposal.is_solved or abs(float(target.t) - proposal.t) > CLOSE * max(1.0, abs(proposal.t)):
        return None
    largest = max(proposal.multipliers, default=0.0)
    starts: list[list[Any]] = []
    for least in (1e-7, 1e-5, 1e-3):  # guesses of which multipliers are 0: the solver leaves noise instead
        numbers = [nearest(float(x), 10**6) if x > least * largest else ZERO for x in proposal.multipliers]
        if numbers not in starts:
            starts.append(numbers)
    solutions = (balanced(program, target.t, numbers, target.vectors) for numbers in starts)
    return _first_proof(program, ((target.t, found) for found in solutions if found is not None))


def _certify_near(program: Program, target: Target | None, twice: bool, exactly: bool = False) -> Search:
    """A proof of just the target's t, else of the solver's t or, unless `exactly`, of a little more."""
    proposal = propose(program, twice=twice)
    certificate = None if target is None else certify_exactly(program, proposal, target)
    if certificate is not None or not proposal.is_solved:
        return Search(certificate, proposal)
    refined = list(refine(program, proposal))
    rough = [max(float(x), 0.0) for x in proposal.multipliers]
    # In the order of how little of the bound they cost; the last two compute interior points, which takes longest.
    ways = [_simple(program, proposal), _read_off(program, refined)]
    ways += (
        []
        if exactly
        else [
            *(_towards_interior(program, proposal, x.t, x.multipliers, range(-35, -9, 5)) for x in refined[:1]),
            _towards_interior(program, proposal, proposal.t, rough, range(-13, 0)),
        ]
    )
    return Search(_first_proof(program, chain(*ways)), proposal, refined)


def _first_proof(program: Program, candidates: Iterator[Candidate]) -> DualCertificate | None:
    for t, multipliers in candidates:
        if all(multiplier >= 0 for multiplier in multipliers):
            try:
                return DualCertificate(program, t, tuple(multipliers))
            except ValueError:
                continue
    return None


def _simple(program: Program, proposal: Proposal) -> Iterator[Candidate]:
    """Fractions with small denominators near the proposal: in many analyses t and the multipliers are such numbers."""
    floats = (proposal.t, *map(float, proposal.multipliers))
    for largest in DENOMINATORS:
        numbers = [nearest(x, largest) for x in floats]
        if all(abs(float(n) - x) <= CLOSE * max(1, abs(x)) for n, x in zip(numbers, floats, strict=True)):
            yield from _balanced(program, numbers)


def _read_off(program: Program, refined: Iterable[RefinedSolution]) -> Iterator[Candidate]:
    """Rationals that agree with the digits of refined solutions, or of their instances, on which the form vanishes."""
    for solution in refined:
        for largest in LONG_DENOMINATORS:
            numbers = [nearest(x, largest) for x in (solution.t, *solution.multipliers)]
            if abs(float(numbers[0] - solution.t)) < SAME * abs(float(solution.t)):
                yield from _balanced(program, numbers)
                yield from _balanced(program, numbers, list(_vectors_of(solution, largest)))


def _vectors_of(solution: RefinedSolution, largest: int) -> Iterator[Vectors]:
    """The columns of every block's W, as rationals."""
    for block, (W, _) in enumerate(solution.parts):
        for column in W.T:
            yield [[nearest(x, largest) for x in column] if k == block else [ZERO] * len(other)
                   for k, (other, _) in enumerate(solution.parts)]  # fmt: skip


def _towards_interior(
    program: Program, proposal: Proposal, t: Any, multipliers: Sequence[Any], exponents: range
) -> Iterator[Candidate]:
    """Mixtures of these multipliers with some that prove a larger t with a positive definite form."""
    for more in (abs(proposal.t), 1e-2, 1.0, 1e2):
        inside = _interior(program, proposal.t + more)
        if inside.is_solved and inside.t > 0:
            yield from _mixtures(program, (t, multipliers), (proposal.t + more, inside.multipliers), exponents)


def _interior(program: Program, t: float) -> Proposal:
    """Multipliers that prove t with as much room as possible; the proposal's own t is the smallest eigenvalue."""
    return propose(program, fixed=t)


def _towards_a_face(program: Program, proposal: Proposal) -> Iterator[Candidate]:
    """Mixtures with multipliers that prove twice as much, in whose form the vectors without squares do not occur.

    Such a form is never positive definite, so no point of the interior helps; it has to be 0 on these vectors exactly.
    """
    inside = _interior(program, 2 * proposal.t)
    if inside.is_solved:
        near, far = ([max(float(x), 0.0) for x in found.multipliers] for found in (proposal, inside))
        yield from _mixtures(program, (proposal.t, near), (2 * proposal.t, far), range(-10, 0), program.unsquared)


def _mixtures(
    program: Program, near: tuple[Any, Any], far: tuple[Any, Any], exponents: range, zeros: Sequence[Vectors] = ()
) -> Iterator[Candidate]:
    """(1 − s)·near + s·far for s = 10^exponent, smallest first; the form vanishes on the vectors `zeros`."""
    start, end = ([_exact(x) for x in (t, *multipliers)] for t, multipliers in (near, far))
    for exponent in exponents:
        share = fmpq(1, 10**-exponent)
        yield from _balanced(program, [x + share * (y - x) for x, y in zip(start, end, strict=True)], zeros)


def _balanced(program: Program, numbers: Sequence[Any], zeros: Sequence[Vectors] = ()) -> Iterator[Candidate]:
    """t and the multipliers next to it that `balanced` finds, if any."""
    t, *multipliers = numbers
    found = balanced(program, t, multipliers, zeros)
    if found is not None:
        yield t, found


def balanced(program: Program, t: Any, multipliers: Sequence[Any], zeros: Iterable[Vectors] = ()) -> list[Any] | None:
    """Multipliers next to these with which the function values cancel exactly; None where that is impossible.

    The form vanishes on the vectors `zeros`, too: on as many of them as it takes to determine all multipliers. The
    largest multipliers are changed, relatively least, and those that are 0 stay 0.
    """
    order = sorted((i for i, m in enumerate(multipliers) if m), key=lambda i: -multipliers[i])
    weights, width = [multipliers[i] for i in order], len(order) + 1
    places = (0, 1, *(i + 2 for i in order))
    table: Rows = []
    # The first are the equations of the function values, which alone may be fewer than the unknowns.
    rest = iter(zeros)
    vectors: Vectors | None = None
    while True:
        # One equation for each function value, and for each entry of (the form's matrix) · vector.
        for N, C, *row in zip(*(_images(program, place, vectors) for place in places), strict=True):
            table.append([*row, t * N + C - sum(map(mul, weights, row), ZERO)])
        vectors = next(rest, None)
        if len(table) >= len(order) or vectors is None:
            rows, pivots = echelon(table, width)
            if len(pivots) >= len(order) or vectors is None:  # all multipliers are determined, or nothing is left
                break
    if len(order) in pivots:
        return None  # the equation 0 = 1
    adjusted = list(multipliers)
    for row, pivot in zip(rows, pivots, strict=True):
        adjusted[order[pivot]] += row[-1]
    return adjusted


def _images(program: Program, place: int, vectors: Vectors | None) -> list[Any]:
    """The coefficients of a form's function values; or, with vectors, its matrices times these."""
    if vectors is None:
        values = program.forms[place].values
        return [values.get(name, ZERO) for name in program.values]
    found = []
    for vector, matrix in zip(vectors, program.matrices[place], strict=True):
        if any(vector):
            image = [ZERO] * len(vector)
            for (i, j), entry in matrix.items():
                image[i] += entry * vector[j]
                if i != j:
                    image[j] += entry * vector[i]
            found += image
    return found


def nearest(x: Any, largest: int) -> Any:
    """The nearest rational whose denominator is at most `largest`."""
    return to_fmpq(to_fraction(x).limit_denominator(largest))


def _exact(x: Any) -> Any:
    """The rational number that a float is."""
    return x if isinstance(x, fmpq) else to_fmpq(float(x))
