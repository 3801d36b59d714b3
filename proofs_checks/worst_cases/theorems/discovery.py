"""From worst cases, or Lyapunov functions, at many parameter values to a theorem for all of them.

A worst case at one point of the parameter space shows which inequalities a proof needs; the exact multipliers at other
points are values of rational functions, which are fitted. That is a conjecture. The method's code then runs with the
parameters as symbols, which turns it into a statement that is proved, or not: an identity between rational functions,
and signs on the whole domain.
"""

from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import replace
from fractions import Fraction
from inspect import signature
from itertools import islice
from random import Random
from typing import Any, final

import sympy

from fedconvex.arithmetic.rationals import to_fraction
from fedconvex.errors import InvalidInput
from fedconvex.progress import track
from fedconvex.proofs_checks.kernel import Refused
from fedconvex.proofs_checks.search.supports import minimal
from fedconvex.proofs_checks.worst_cases.certificates.certificate import DualCertificate
from fedconvex.proofs_checks.worst_cases.certificates.search import certify_least
from fedconvex.proofs_checks.worst_cases.instances.line_federations import extreme_federations, target
from fedconvex.proofs_checks.worst_cases.programs.solver import Proposal, propose
from fedconvex.proofs_checks.worst_cases.questions.question import Question
from fedconvex.proofs_checks.worst_cases.theorems.discovered import Discovered
from fedconvex.proofs_checks.worst_cases.theorems.parametric_theorem import (
    DEFAULTS,
    Arguments,
    question_at,
    theorem,
)
from fedconvex.proofs_checks.worst_cases.theorems.points import Point, checked_relations, named, random_points, shown
from fedconvex.proofs_checks.worst_cases.theorems.rational_fits import formulas
from fedconvex.proofs_checks.worst_cases.theorems.rational_functions import Functions
from fedconvex.proofs_checks.worst_cases.worst_case import worst_case
from fedconvex.validation import integer_at_least
from fedconvex.verdicts import Verdict

Where = Callable[..., Collection[Any]]
SAME = 1e-7  # relative distance from a solver's number
NEAR = Fraction(1, 10**9)  # relative distance between bounds, one of which may contain a rounded root
CHECKED = 5  # points at which the bound is compared with an instance
ALIKE = 4  # at least one of so many points must have the proof pattern of the first, else another one starts
STARTS = 4  # points that start a sweep, in case the first is a special one
BATCH = 10  # new worst cases after which the fit is tried again


def discover(
    arguments: Arguments, where: Where | None = None, samples: int = 400, seed: int = 0, local_steps: str | None = None
) -> Discovered:
    """The worst case or the linear rate of a method as a formula in its parameters, with a proof for all of them.

    Use it to find or improve a theorem about few rounds with one to three parameters; it takes seconds to minutes, and
    more parameters need many more samples. Formulas must be rational functions: where you expect roots, make them the
    parameters, √κ and not κ (of linear rates some roots are found). Where the worst case is a maximum of several
    functions, you get the one of the first sample (of linear rates the most frequent one of some samples), and a domain
    where it holds.

    With `metric="lyapunov"` it is about the rate of a method with memory, as `lyapunov` finds it at numbers: the rate,
    the coefficients of a Lyapunov function V of the whole state and the multipliers of the proof are formulas. The rate
    is the one that quadratics of the smallest or the largest curvature attain, or, with the same V, the larger of both.
    The equations that every proof of it satisfies determine most multipliers; what they leave open gets the simplest
    formula of the right unit that all samples allow. Where no quadratic V of the state has the rate, V measures the
    objective's value at the server's point, too. A rate whose root solves a quadratic equation, with coefficients that
    are rational in the parameters and linear in one of them, is r², with r's closed form (a + √b)/c in `root`; V, the
    multipliers and the conditions are then formulas in r. Where the kernel proves none, the formula for the rate is a
    conjecture, and `says` how many points it was checked at.

    With `local_steps`, the name of a parameter, the theorem is for every number of local steps at once: the rate, V and
    the multipliers are closed forms in it, with powers whose exponent it is, and the proof is an induction over the
    steps, whose potential is found as well. This is for methods whose clients take gradient steps on F_k plus a linear
    term that is fixed in the round (`Scaffold`, `FedLin`), and for rates that clients of least curvature attain.

    Args:
        arguments: from parameters to the arguments of `worst_case`, for example
            `lambda mu, B: dict(method=fc.FedProx(mu=mu), clients=SmoothConvex(1), metric="descent", dissimilarity=B)`.
            The number of clients is "any" unless given. With `metric="lyapunov"` to those of `lyapunov`, for everyone
            and any number of clients: `method`, `clients=SmoothStronglyConvex(mu, L)`, `local_solver`.
        where: relations between the same parameters, as SymPy's positive symbols: `lambda mu, B: (B >= 1,)`. The
            relations that the proof needs besides are added.
        samples: the largest number of points at which a worst case is computed, >= 10.
        seed: of the random choice of points.
        local_steps: with `metric="lyapunov"` the parameter that is the number of local steps, any integer >= 1.

    Raises:
        InvalidInput: no parameters, an empty domain, fewer than ten samples, or arguments that `worst_case`, or
            `lyapunov`, refuses.
    """
    if not callable(arguments):
        problem = "is no function of parameters"
        raise InvalidInput("arguments", arguments, problem, "give lambda mu: dict(method=…, clients=…)")
    symbols = {name: sympy.Symbol(name, positive=True) for name in signature(arguments).parameters}
    if not symbols:
        raise InvalidInput("arguments", arguments, "has no parameters", "give a function of some, or call worst_case")
    integer_at_least(samples, BATCH, "samples")
    relations = checked_relations(_relations(where, symbols))
    if local_steps is not None:
        from fedconvex.proofs_checks.search.step_theorems.step_search import discovered_for_all_steps

        return discovered_for_all_steps(arguments, tuple(symbols.values()), local_steps, relations, seed)
    drawn = islice(random_points(tuple(symbols.values()), relations, Random(seed)), samples)
    points = list(islice(drawn, 1))  # drawn so far; a second start uses the points of the first again
    if arguments(**named(points[0])).get("metric") == "lyapunov":
        from fedconvex.proofs_checks.search.rate_theorems.discovered_rates import discovered_rate

        return discovered_rate(arguments, tuple(symbols.values()), relations, samples, seed)
    begun = Discovered(tuple(symbols.values()), "", Verdict.UNKNOWN, "", relations)
    for start in range(STARTS):
        points += islice(drawn, max(0, start + 1 - len(points)))
        if start >= len(points):
            break
        found = _Sweep.started(arguments, points[start])
        if found is None:
            begun = replace(begun, says=begun.says or f"no exact worst case was found at {shown(points[start])}")
            continue
        begun = replace(begun, metric=found.metric)
        count = 0
        for count, point in zip(track(range(1, samples + 1), "Worst cases"), _known_first(points, drawn), strict=False):
            if count > ALIKE * (len(found.seen) + BATCH):
                break
            if found.adds(point) and len(found.seen) % BATCH == 0:
                fits = found.formulas()
                if fits is not None:
                    return _proved(begun, arguments, points[start], found, fits, count)
        begun = replace(begun, says=f"no rational functions fit {len(found.seen)} of {count} worst cases")
    return begun


def _relations(where: Any, symbols: Mapping[str, Any]) -> tuple[Any, ...]:
    """The relations of the domain. Raises InvalidInput for what is no function of the parameters that gives several."""
    if where is None:
        return ()
    names = ", ".join(symbols)
    cure = f"give lambda {names}: (…,), relations between {names}"
    if not callable(where):
        raise InvalidInput("where", where, "is no function of the parameters", cure)
    try:
        signature(where).bind(**symbols)
    except TypeError as error:
        raise InvalidInput("where", where, f"does not have the parameters {names} ({error})", cure) from None
    found = where(**symbols)
    if not isinstance(found, Collection) or isinstance(found, str):
        raise InvalidInput("where", found, "is not a collection of relations", cure)
    return tuple(found)


def _known_first(points: list[Point], drawn: Iterator[Point]) -> Iterator[Point]:
    """The points drawn so far, and then new ones, which are appended to them."""
    yield from list(points)
    for point in drawn:
        points.append(point)
        yield point


def _proved(
    begun: Discovered, arguments: Arguments, first: Point, found: "_Sweep", fits: list[Any], count: int
) -> Discovered:
    """The theorem with these formulas, on the part of the domain where its proof holds."""
    t, *numbers = fits
    multipliers = {name: number for name, number in zip(found.names, numbers, strict=True) if number != 0}
    sharp = [found.is_sharp_at(point) for point, _ in found.seen[:CHECKED]]
    read = f"read off {len(found.seen)} of {count} worst cases, attained in {sum(sharp)} of the first {len(sharp)}"
    functions = Functions(first)
    bound = functions.factored(functions.of(-t)) if begun.metric == "descent" else t
    begun = replace(begun, bound=bound, multipliers=multipliers, sharp=all(sharp))
    try:
        made = theorem(arguments, first, t, multipliers)
        where = begun.where + made.needed_signs(begun.where)
        proof = made.lemma(where)
        begun = replace(begun, where=where, proof=proof)
        proof.theorem()
    except (Refused, ValueError) as error:
        return replace(begun, says=f"{read}; {error}")
    return replace(begun, verdict=Verdict.PROVED, says=f"{read}; proved for all parameters")


@final
class _Sweep:
    """Exact worst cases with one pattern: proofs by the same inequalities, instances of the same extreme curvatures."""

    def __init__(self, arguments: Arguments, metric: str, names: Collection[str], pattern: Any):
        self.arguments, self.metric, self.names, self.pattern = arguments, metric, tuple(names), pattern
        self.seen: list[tuple[Point, DualCertificate]] = []

    @classmethod
    def started(cls, arguments: Arguments, point: Point) -> "_Sweep | None":
        """A sweep with as few inequalities as a proof at the point needs; None where no exact proof is found."""
        question = question_at(arguments, named(point))
        program, proposal = question.program, propose(question.program)
        if not proposal.is_solved:
            return None
        names = [name for name, _ in program.inequalities]
        used = dict(zip(names, proposal.multipliers, strict=True))
        # Multipliers are unique only without superfluous inequalities; the least used ones go first.
        names = minimal(names, lambda fewer: _is_near(propose(program.only(fewer)), proposal.t), used.__getitem__)
        certified = _exact(replace(question, program=program.only(names)))
        return None if certified is None else cls(arguments, question.spec.metric, names, _pattern(question, certified))

    def adds(self, point: Point) -> bool:
        """Adds the worst case at the point, if it is found exactly and has the pattern; whether it was added."""
        question = question_at(self.arguments, named(point))
        certified = _exact(replace(question, program=question.program.only(self.names)))
        if certified is None or not _is_near(propose(question.program), certified.t):
            return False
        if _pattern(question, certified) != self.pattern:
            return False
        self.seen.append((point, certified))
        return True

    def is_sharp_at(self, point: Point) -> bool:
        """Whether an instance attains the bound there, or nearly so."""
        found = worst_case(**{**DEFAULTS, **self.arguments(**named(point))})
        lower, upper = found.lower, found.upper
        return bool(upper - lower <= NEAR * max(abs(lower), abs(upper)))

    def formulas(self) -> list[Any] | None:
        """Rational functions through the bounds and the multipliers; None where one of them has no fit."""
        found = formulas([point for point, _ in self.seen], [(c.t, *c.multipliers) for _, c in self.seen])
        return None if found is None else found[0]


def _exact(question: Question) -> DualCertificate | None:
    """A proof of exactly the least t, a rational number; None where none is found."""
    return certify_least(question.program, target(extreme_federations(question)))


def _pattern(question: Question, certified: DualCertificate) -> Any:
    """Which extreme curvatures the worst federation on a line has, if it attains the bound."""
    for line in extreme_federations(question)[:1]:
        if line.ratio is not None and abs(to_fraction(line.ratio) - certified.t) <= NEAR * abs(certified.t):
            return sorted(to_fraction(h) == question.spec.clients.lowest for h in line.curvatures)
    return None


def _is_near(proposal: Proposal, t: Any) -> bool:
    return bool(proposal.is_solved and abs(proposal.t - float(t)) <= SAME * max(abs(float(t)), 1e-3))
