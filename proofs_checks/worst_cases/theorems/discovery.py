"""From worst cases at many parameters to a theorem for all of them.

A worst case at one set of parameters tells which inequalities a proof needs; the exact multipliers at others are values
of rational functions, which are fitted. That is a guess. Then the method's own code is played with the parameters as
symbols, and the guess is proved, or not: an identity between rational functions, and signs on the whole domain.
"""

from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from inspect import signature
from itertools import islice
from random import Random
from typing import Any, final

import sympy

from fedconvex.arithmetic.rationals import to_fmpq, to_fraction
from fedconvex.errors import InvalidInput
from fedconvex.progress import track
from fedconvex.proofs_checks.engines.algebra import factored
from fedconvex.proofs_checks.engines.signs import Domain
from fedconvex.proofs_checks.proof import Proof
from fedconvex.proofs_checks.worst_cases.certificates.search import Certified, certify_exactly, certify_read_off, forced
from fedconvex.proofs_checks.worst_cases.instances.line_federations import lines
from fedconvex.proofs_checks.worst_cases.programs.solver import Proposal, propose
from fedconvex.proofs_checks.worst_cases.questions.question import Question
from fedconvex.proofs_checks.worst_cases.theorems.parametric_theorem import (
    DEFAULTS,
    Ask,
    needed_signs,
    question_of,
    theorem,
)
from fedconvex.proofs_checks.worst_cases.theorems.rational_fits import fitted
from fedconvex.proofs_checks.worst_cases.theorems.rational_functions import Region, at
from fedconvex.proofs_checks.worst_cases.worst_case import worst_case
from fedconvex.validation import integer_at_least
from fedconvex.verdicts import Verdict

Where = Callable[..., Collection[Any]]
Point = Mapping[Any, Fraction]  # values of the parameters, by symbol
SAME = 1e-7  # relative, between numbers of which one is a solver's
NEAR = Fraction(1, 10**9)  # relative, between ends of which one may have a root
ATTEMPTS = 10_000  # random parameters, in search of one in the domain
CHECKED = 5  # samples at which an instance is sought
ALIKE = 4  # of so many samples at least one must be like the first, else another is begun with
STARTS = 4  # samples from which a sweep is begun, where the first is a special one
BATCH = 10  # new worst cases after which a fit is tried again


@final
@dataclass(frozen=True, eq=False)
class Discovered:
    """metric <= bound · N for all parameters in the domain; of "descent": metric >= bound · N.

    `where` are the domain's relations: the given ones, and those that the proof was found to need. `multipliers` are
    those of the inequalities, by name. `sharp`: at the first few samples an instance attains the bound, or comes within
    1e-9 of it; elsewhere nobody has looked. UNKNOWN without a proof; `says` tells why.
    """

    parameters: tuple[Any, ...]
    metric: str
    verdict: Verdict
    says: str
    where: tuple[Any, ...]
    bound: Any = None
    multipliers: Mapping[str, Any] = field(default_factory=dict)
    proof: Proof | None = None
    sharp: bool = False

    def at(self, **values: Any) -> Fraction:
        """The bound for some parameters, exactly. Raises InvalidInput outside of the domain, or without a proof."""
        if self.verdict is not Verdict.PROVED:
            raise InvalidInput("bound", self.bound, f"is not proved: {self.says}", "ask worst_case at numbers")
        names = list(map(str, self.parameters))
        if values.keys() != set(names):
            raise InvalidInput("values", sorted(values), "are not the parameters", f"give {', '.join(names)}")
        point = [to_fmpq(values[name], name) for name in names]
        if point not in self._region:
            raise InvalidInput("values", values, f"are outside of {self.where}, where it holds", "give others")
        return to_fraction(at(self._function, point))

    @cached_property
    def _region(self) -> Region:
        return Region(self.parameters, self.where)

    @cached_property
    def _function(self) -> Any:
        return sympy.QQ.frac_field(*self.parameters).from_sympy(self.bound)

    def _repr_markdown_(self) -> str:
        relation = r"\ge" if self.metric == "descent" else r"\le"
        holds = ", ".join(f"${sympy.latex(r)}$" for r in self.where) or "all parameters are positive"
        name = self.metric.replace("_", " ")
        return rf"$\text{{{name}}} {relation} {sympy.latex(self.bound)} \cdot N$ where {holds}: {self.says}"


def discover(ask: Ask, where: Where | None = None, samples: int = 400, seed: int = 0) -> Discovered:
    """The worst case of a method as a formula in its parameters, with a proof for all of them.

    Args:
        ask: from parameters, its arguments, to `worst_case`'s arguments; for example
            `lambda mu, B: dict(method=fc.FedProx(mu=mu), clients=SmoothConvex(1), metric="descent", dissimilarity=B)`.
            The number of clients is "any" unless it is given.
        where: relations between the same parameters, which are SymPy's symbols of positive numbers:
            `lambda mu, B: (B >= 1,)`. What else the proof needs is added.
        samples: at how many parameters the worst case is computed, at most.
        seed: of the random choice of parameters.

    Formulas must be rational functions: where roots are expected, make them parameters, √κ and not κ. Where the truth
    is a maximum of several functions, that of the first sample is found, and where it holds.

    Raises:
        InvalidInput: no parameters, none in the domain, fewer than ten samples, or what `worst_case` refuses.
    """
    symbols = {name: sympy.Symbol(name, positive=True) for name in signature(ask).parameters}
    if not symbols:
        raise InvalidInput("ask", ask, "has no parameters", "give a function of some, or ask worst_case at numbers")
    integer_at_least(samples, BATCH, "samples")
    relations = (Domain() & Domain(tuple(where(**symbols)) if where else ())).relations
    drawn = islice(_points(tuple(symbols.values()), relations, Random(seed)), samples)
    points: list[Point] = []  # those drawn so far
    begun = Discovered(tuple(symbols.values()), "", Verdict.UNKNOWN, "", relations)
    for start in range(STARTS):
        points += islice(drawn, max(0, start + 1 - len(points)))
        if start >= len(points):
            break
        found = _Sweep.started(ask, points[start])
        if found is None:
            begun = replace(begun, says=begun.says or f"no exact worst case was found at {_told(points[start])}")
            continue
        begun = replace(begun, metric=found.metric)
        count = 0
        for count, point in zip(track(range(1, samples + 1), "Worst cases"), _known_first(points, drawn), strict=False):
            if count > ALIKE * (len(found.seen) + BATCH):
                break
            if found.looks_at(point) and len(found.seen) % BATCH == 0:
                formulas = found.formulas()
                if formulas is not None:
                    return _proved(begun, ask, points[start], found, formulas, count)
        begun = replace(begun, says=f"no rational functions fit {len(found.seen)} of {count} worst cases")
    return begun


def _known_first(points: list[Point], drawn: Iterator[Point]) -> Iterator[Point]:
    """The points, and then those that are drawn, which become points."""
    yield from list(points)
    for point in drawn:
        points.append(point)
        yield point


def _proved(begun: Discovered, ask: Ask, first: Point, found: "_Sweep", formulas: list[Any], count: int) -> Discovered:
    """With the proof, on a domain that is as small as the proof needs it."""
    t, *numbers = formulas
    multipliers = {name: number for name, number in zip(found.names, numbers, strict=True) if number != 0}
    domain = Domain(begun.where)
    proof = theorem(ask, first, t, multipliers, domain)
    further = needed_signs(proof, domain, first)
    if further:
        domain = domain & Domain(further)
        proof = theorem(ask, first, t, multipliers, domain)
    outcomes = [step.by.run(step.claim) for step in proof.steps]
    open_ones = [outcome.detail for outcome in outcomes if outcome.verdict is not Verdict.PROVED]
    sharp = [found.is_sharp_at(point) for point, _ in found.seen[:CHECKED]]
    read = f"read off {len(found.seen)} of {count} worst cases, attained in {sum(sharp)} of the first {len(sharp)}"
    says = f"{read}; {'; '.join(open_ones) or 'proved for all parameters'}"
    bound = factored(-t) if begun.metric == "descent" else t
    verdict = Verdict.UNKNOWN if open_ones else Verdict.PROVED
    return replace(begun, bound=bound, multipliers=multipliers, where=domain.relations, verdict=verdict, says=says,
                   proof=proof, sharp=all(sharp))  # fmt: skip


class _Sweep:
    """Exact worst cases that look alike: the same inequalities are used, and the same ends of the clients' class."""

    def __init__(self, ask: Ask, metric: str, names: Collection[str], pattern: Any):
        self.ask, self.metric, self.names, self.pattern = ask, metric, tuple(names), pattern
        self.seen: list[tuple[Point, Certified]] = []

    @classmethod
    def started(cls, ask: Ask, point: Point) -> "_Sweep | None":
        """With as few inequalities as the worst case there needs; None where it is not found exactly."""
        question = question_of(ask, _named(point))
        program, proposal = question.program, propose(question.program)
        if not proposal.is_solved:
            return None
        names = [name for name, _ in program.inequalities]
        used = dict(zip(names, proposal.multipliers, strict=True))
        for name in sorted(names, key=used.__getitem__):
            fewer = [other for other in names if other != name]
            if _is_near(propose(program.only(fewer)), proposal.t):
                names = fewer
        certified = _exact(replace(question, program=program.only(names)))
        return None if certified is None else cls(ask, question.metric, names, _ends(question, certified))

    def looks_at(self, point: Point) -> bool:
        """Whether the worst case there is found, and like the others."""
        question = question_of(self.ask, _named(point))
        certified = _exact(replace(question, program=question.program.only(self.names)))
        if certified is None or not _is_near(propose(question.program), certified.t):
            return False
        if _ends(question, certified) != self.pattern:
            return False
        self.seen.append((point, certified))
        return True

    def is_sharp_at(self, point: Point) -> bool:
        """Whether an instance attains the bound, or nearly so."""
        found = worst_case(**{**DEFAULTS, **self.ask(**_named(point))})
        lower, upper = found.lower, found.upper
        return bool(upper - lower <= NEAR * max(abs(lower), abs(upper)))

    def formulas(self) -> list[Any] | None:
        """For the bound and all multipliers, as expressions; None where one does not fit."""
        functions = sympy.QQ.frac_field(*self.seen[0][0]).field
        points = [[to_fmpq(value) for value in point.values()] for point, _ in self.seen]
        found = []
        for values in zip(*((c.t, *c.multipliers) for _, c in self.seen), strict=True):
            function = fitted(functions, points, [to_fmpq(value) for value in values])
            if function is None:
                return None
            found.append(factored(function.as_expr()))
        return found


def _exact(question: Question) -> Certified | None:
    """A proof of what is the least t, as a rational number; None where it is not found."""
    program, worst = question.program, lines(question)
    ratio = None if not worst or worst[0].ratio is None else to_fraction(worst[0].ratio)
    if ratio is not None:
        vectors = [line.vectors for line in worst if line.ratio == worst[0].ratio]
        found = forced(program, ratio, vectors) or certify_exactly(program, propose(program), ratio, vectors)
        if found is not None:
            return found
    return certify_read_off(program, propose(program))


def _ends(question: Question, certified: Certified) -> Any:
    """Of the federation on a line that attains the bound, at which end of the class its curvatures are, if any does."""
    for line in lines(question)[:1]:
        if line.ratio is not None and abs(to_fraction(line.ratio) - certified.t) <= NEAR * abs(certified.t):
            return sorted(to_fraction(h) == question.clients.lowest for h in line.curvatures)
    return None


def _is_near(proposal: Proposal, t: Any) -> bool:
    return bool(proposal.is_solved and abs(proposal.t - float(t)) <= SAME * max(abs(float(t)), 1e-3))


def _points(symbols: tuple[Any, ...], relations: tuple[Any, ...], random: Random) -> Iterator[Point]:
    """Simple rationals in the domain, in every parameter all different: only so are functions told from each other."""
    region = Region(symbols, relations)
    known: list[set[Fraction]] = [set() for _ in symbols]
    fruitless = 0
    while fruitless < ATTEMPTS:
        most = 8 + len(known[0]) // 2 + fruitless // 50
        values = tuple(Fraction(random.randint(1, most), random.randint(1, most)) for _ in symbols)
        fruitless += 1
        if not any(x in used for x, used in zip(values, known, strict=True)) and values in region:
            for x, used in zip(values, known, strict=True):
                used.add(x)
            fruitless = 0
            yield dict(zip(symbols, values, strict=True))
    if not known[0]:
        raise InvalidInput("where", relations, "holds for none of many random parameters", "give a larger domain")


def _named(point: Point) -> dict[str, Fraction]:
    return {str(symbol): value for symbol, value in point.items()}


def _told(point: Point) -> str:
    return ", ".join(f"{symbol} = {value}" for symbol, value in point.items())
