"""`design`: the parameters of a method with which its rate, proved by a Lyapunov function, is best."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import MISSING, dataclass, fields, replace
from fractions import Fraction
from functools import cached_property, partial
from math import exp, inf
from typing import Any, final

from fedconvex.arithmetic.rationals import to_fraction
from fedconvex.errors import InvalidInput
from fedconvex.local_solvers.base import LocalSolver
from fedconvex.local_solvers.gradient_descent import GradientDescent
from fedconvex.methods.base import Method
from fedconvex.names import checked_keywords, one_of
from fedconvex.parameters import is_scheduled
from fedconvex.progress import track
from fedconvex.proofs_checks.search.lyapunov.closed_forms import ClosedForm, closed_forms, theorem
from fedconvex.proofs_checks.search.lyapunov.design_result import UNITS, CurvePoint, Design
from fedconvex.proofs_checks.search.lyapunov.lyapunov import attained_rate, is_proved, lyapunov
from fedconvex.proofs_checks.search.lyapunov.parameter_search import (
    ParameterSearch,
    Values,
    Varied,
    decrease,
    dimensions,
    rounded,
    simplest,
)
from fedconvex.proofs_checks.search.lyapunov.rate import Rate
from fedconvex.proofs_checks.symbolic.randomness import draws_of
from fedconvex.proofs_checks.worst_cases.questions.function_classes import FunctionClass, SimilarClients
from fedconvex.validation import instance_of

LONGEST = 24  # local steps: proofs with more take minutes
CERTIFIED = 3  # candidates of which a rate is proved
USELESS = 1e6  # the cost of parameters with which errors do not decrease, and more where they grow
NEARLY = 1e-5  # relative cost that shorter fractions may have more
CLOSER = (1e-2, 1e-3, 1e-4, 1e-5)  # relative distances of shorter fractions
FLAT = 1.1  # times the best cost: what still counts as good
OCTAVES = [n / 4 for n in range(-8, 9)]  # of a curve, around the best parameter
ELSEWHERE = (Fraction(5, 2), Fraction(9))  # times the condition number, where formulas are tried
HALVINGS, FEW = 14, 5  # of an end of the range that still counts as good: by what is attained, by what is proved


@checked_keywords
def design(
    method: Method | type[Method],
    clients: FunctionClass,
    over: Sequence[str] | str | None = None,
    per: str = "round",
    num_clients: int | str = "any",
    local_solver: LocalSolver | None = None,
    participation: Any = None,
) -> Design:
    """The parameters of a method whose proved rate is best, on all clients of a class with equal weights.

    Use it to choose stepsizes and numbers of local steps from μ and L alone, for the worst case; for the best ones on
    one problem use `fedconvex.recommend`. The rate at the result is `lyapunov`'s: a proof in rationals. That no other
    parameters are better is not proved: they are searched for by what quadratics attain.

    Args:
        method: a method, whose other parameters are kept, or its class.
        clients: `SmoothStronglyConvex(mu, L)` or `Quadratics(mu, L)`.
        over: the names of the parameters to design; by default those without a default value, and `local_steps`. Up to
            24 local steps are considered.
        per: what to save: "round"; "gradient" (evaluations of a client's gradient); or "byte" (numbers that are sent:
            vectors to and from the participants, times the chance that a client takes part).
        num_clients, local_solver, participation: as in `lyapunov`.

    Returns:
        A `Design` with `.parameters`, `.method`, `.rate`, `.curve`, `.flat`, `.closed_forms`, `.theorem`, `.to_frame()`
        and `.plot()`.

    Raises:
        InvalidInput: names that are no parameters to design, clients without strong convexity, methods and schemes that
            `lyapunov` refuses, gradients of a local solver that does not count them, and no parameters that contract.
    """
    free = varied(method, over, local_solver)
    question = _Question(free, clients, checked_unit(per), num_clients, local_solver, participation)
    return question.answer(method if isinstance(method, Method) else None)


@final
@dataclass(frozen=True, eq=False)
class _Question:
    """The arguments of `design`."""

    varied: Varied
    clients: FunctionClass
    per: str
    num_clients: int | str
    local_solver: LocalSolver | None
    participation: Any

    def answer(self, given: Method | None) -> Design:
        instance_of(self.clients, FunctionClass, "clients", "a class of functions", "give SmoothStronglyConvex(mu, L)")
        if not self.clients.lowest > 0:
            raise InvalidInput("clients", self.clients, "have no linear rate of w − x*: errors along curvature 0 "
                               "never decrease", "give SmoothStronglyConvex(mu, L)")  # fmt: skip
        search = self.search
        candidates = search.best(LONGEST)
        if not candidates:
            raise search.refusals[0] if search.refusals else self._hopeless()
        proved = [(values, self.rate(values)) for values in candidates[:CERTIFIED]]
        values, rate = min(proved, key=self._cost)
        if not rate.tight:
            values, rate = self._by_proofs(values, rate)
        if self._cost((values, rate)) >= USELESS:
            raise self._hopeless()
        values, rate = self._shorter(values, rate)
        values, rate, forms = self._in_closed_form(values, rate)
        before = None
        if given is not None and not is_scheduled(given):
            before = lyapunov(given, *self._rest)
        cost, method = self._cost((values, rate)), self.varied.at(values)
        own = self.local_solver is None  # statements are about the method's own
        return Design(
            method, rate, dict(zip(self.varied.names, values, strict=True)), self.per, self.units(method),
            {name: self._flat(n, values, cost) for n, name in enumerate(self.varied.names)}, forms,
            theorem(method, self.clients, rate.upper, self.participation, self.num_clients) if own else None, before,
            partial(self.curve, values),
        )  # fmt: skip

    @property
    def _rest(self) -> tuple[Any, ...]:
        """The arguments of `lyapunov` after the method."""
        return self.clients, self.num_clients, self.local_solver, self.participation

    def rate(self, values: Values) -> Rate:
        return lyapunov(self.varied.at(values), *self._rest)

    def units(self, method: Method) -> Fraction:
        """What a round costs."""
        return units(method, self.per, self.num_clients, self.local_solver, self.participation)

    def cost(self, method: Method, rate: Any) -> float:
        """Units for a decrease by the factor e."""
        worth = decrease(rate)
        return float(self.units(method)) / worth if worth > 0 else USELESS * (1 - worth)

    def _cost(self, found: tuple[Values, Rate]) -> float:
        return self.cost(self.varied.at(found[0]), found[1].upper)

    @cached_property
    def search(self) -> ParameterSearch:
        names = real_parameters(self.varied)
        kinds = dimensions(self.varied, names, self._attained, self.clients.highest) if names else {}
        return ParameterSearch(
            self.varied, self._attained_cost, self.clients, tuple(kinds.get(name) for name in self.varied.names)
        )

    def _attained_cost(self, method: Method) -> float:
        return self.cost(method, attained_rate(method, *self._rest))

    def _attained(self, method: Method, factor: Fraction) -> Fraction:
        """What is attained where all functions, and the local solver's steps, are scaled."""
        scaled = with_curvatures(self.clients, self.clients.lowest * factor, self.clients.highest * factor)
        solver = self.local_solver
        if isinstance(solver, GradientDescent):
            solver = replace(solver, stepsize=Fraction(solver.stepsize) / factor)
        return attained_rate(method, scaled, self.num_clients, solver, self.participation)

    def _proves(self, values: Values, cost: float) -> bool:
        """Whether these parameters are proved to cost at most so much."""
        if self.search.at(values) > cost:
            return False
        if cost <= 0:  # no error is left
            return self._cost((values, self.rate(values))) <= cost
        method = self.varied.at(values)
        worth = float(self.units(method)) / cost if cost < USELESS else 1 - cost / USELESS
        return is_proved(Fraction(exp(-worth)), method, *self._rest)

    def _by_proofs(self, start: Values, rate: Rate) -> tuple[Values, Rate]:
        """The best parameters nearby by what is proved, not by what is attained."""
        best = start, rate

        def measure(method: Method) -> float:
            nonlocal best
            values = tuple(getattr(method, name) for name in self.varied.names)
            if values != start and not self._proves(values, self._cost(best) * (1 - NEARLY / 10)):
                return inf  # no better
            found = values, rate if values == start else self.rate(values)
            best = min(best, found, key=self._cost)
            return self._cost(found)

        ParameterSearch(self.varied, measure, self.clients, self.search.dimensions).descended(start, show=True)
        return best

    def _shorter(self, values: Values, rate: Rate) -> tuple[Values, Rate]:
        """Shorter fractions that are about as good, and proved to be."""
        cost = self._cost((values, rate))
        for near in CLOSER:
            short = tuple(v if d is None else simplest(*(Fraction(v) * (1 + Fraction(s * near)) for s in (-1, 1)))
                          for v, d in zip(values, self.search.dimensions, strict=True))  # fmt: skip
            if self._proves(short, cost * (1 + NEARLY)):
                return short, self.rate(short)
        return values, rate

    def _in_closed_form(self, values: Values, rate: Rate) -> tuple[Values, Rate, dict[str, ClosedForm]]:
        """The parameters by formulas in μ and L, where such are as good here and the best ones elsewhere."""
        forms: dict[str, ClosedForm] = {}
        cost = self._cost((values, rate))
        for n, name in enumerate(self.varied.names):
            dimension = self.search.dimensions[n]
            if dimension is None:
                continue
            for form in closed_forms(Fraction(values[n]), dimension, self.clients):
                changed = (*values[:n], form.value, *values[n + 1 :])
                if self._proves(changed, cost * (1 + NEARLY)) and self._elsewhere(n, form, changed):
                    forms[name], values, rate = form, changed, self.rate(changed)
                    cost = self._cost((values, rate))
                    break
        return values, rate, forms

    def _elsewhere(self, n: int, form: ClosedForm, values: Values) -> bool:
        """Whether the formula is a local optimum at other condition numbers, too, with the same local steps.

        Of a parameter that is designed together with other real ones a formula may be right at one condition number
        only, and nothing is said.
        """
        if any(d is not None for m, d in enumerate(self.search.dimensions) if m != n):
            return False
        for factor in ELSEWHERE:
            other = with_curvatures(self.clients, self.clients.lowest, self.clients.highest * factor)
            search, value = replace(self, clients=other).search, float(form.at(other))
            here, *beside = (search.at((*values[:n], rounded(value * r), *values[n + 1 :])) for r in (1, 0.99, 1.01))
            if here > min(beside):
                return False
        return True

    def curve(self, best: Values) -> tuple[CurvePoint, ...]:
        """Over each parameter alone, with the others at their best."""
        found = []
        points = [(n, value) for n in range(len(best)) for value in self._around(n, best)]
        for n, value in track(points, f"{self.varied.kind.__name__}: rates beside the best"):
            try:
                rate = self.rate((*best[:n], value, *best[n + 1 :]))
            except InvalidInput:  # such as biased with more local steps
                continue
            found.append(CurvePoint(self.varied.names[n], value, rate.lower, rate.upper, self.units(rate.method)))
        return tuple(found)

    def _around(self, n: int, best: Values) -> Iterator[Any]:
        if self.search.dimensions[n] is None:
            e = best[n]
            yield from sorted({*range(1, 9), *(e + d for d in range(-3, 4)), e // 2, 2 * e} & {*range(1, LONGEST + 1)})
        else:
            yield from (best[n] if not x else rounded(float(best[n]) * 2**x) for x in OCTAVES)

    def _flat(self, n: int, best: Values, cost: float) -> tuple[Any, Any]:
        """The ends of a range around the best value, proved to be at most `FLAT` times as dear; not all between."""

        def changed(value: Any) -> Values:
            return (*best[:n], value, *best[n + 1 :])

        def attains(value: Any) -> bool:
            return self.search.at(changed(value)) <= FLAT * cost

        def proved(value: Any) -> bool:
            return self._proves(changed(value), FLAT * cost)

        if self.search.dimensions[n] is None:
            low = high = best[n]
            while low > 1 and proved(low - 1):
                low -= 1
            while high < LONGEST and proved(high + 1):
                high += 1
            return low, high
        found = []
        for sign in (-1, 1):

            def at(octaves: float, sign: int = sign) -> Fraction:
                return rounded(float(best[n]) * 2 ** (sign * octaves))

            far = _last(lambda x: attains(at(x)), OCTAVES[-1], HALVINGS)
            near = _last(lambda x: proved(at(x)), far, FEW)
            found.append(at(near) if near else best[n])
        return found[0], found[1]

    def _hopeless(self) -> InvalidInput:
        return InvalidInput("over", self.varied.names, f"hold no parameters for which {self.varied.kind.__name__} was "
                            "proved to contract on these clients", "design more of its parameters, or change the "
                            "others")  # fmt: skip


def _last(holds: Callable[[float], bool], most: float, halvings: int) -> float:
    """About the largest number from 0 to `most` up to which it holds; 0 where none is found."""
    if holds(most):
        return most
    inside, outside = 0.0, most
    for _ in range(halvings):
        middle = (inside + outside) / 2
        inside, outside = (middle, outside) if holds(middle) else (inside, middle)
    return inside


def units(
    method: Method, per: str, num_clients: int | str, local_solver: LocalSolver | None, participation: Any
) -> Fraction:
    """What a round costs: 1; gradients of a client; or vectors, per client of the federation.

    Raises InvalidInput for drawn clients whose number is not known: each takes part with some chance.
    """
    if per == "round":
        return Fraction(1)
    draws = draws_of(participation, num_clients)
    if not (draws.everyone or draws.clients):
        raise InvalidInput("num_clients", num_clients, f"leaves open how often a client takes part under "
                           f"{participation}", 'give m, or per="round"')  # fmt: skip
    sampled = draws.chance_of_each
    if per == "byte":
        gradients = 2 if method.gradients_from != "nobody" else 0
        sent = method.vectors_down + method.vectors_up
        return (sampled * sent + gradients) * (1 - to_fraction(method.skip))
    solver = method.local_solver if local_solver is None else local_solver
    if not isinstance(solver, GradientDescent):
        raise InvalidInput("per", per, f"needs local gradient steps, and {type(method).__name__} solves by "
                           f"{solver!r}", 'give per="round", or local_solver=GradientDescent(…)')  # fmt: skip
    return solver.steps * sampled


def checked_unit(per: Any) -> str:
    """What is to be saved. Raises InvalidInput for what is nothing of the kind."""
    if not isinstance(per, str) or per not in UNITS:
        raise InvalidInput("per", per, "is nothing to save", one_of(per, UNITS))
    return per


def varied(method: Any, over: Any, local_solver: LocalSolver | None) -> Varied:
    """The method with its free parameters. Raises InvalidInput for names that cannot be designed."""
    kind = method if isinstance(method, type) else type(method)
    if not issubclass(kind, Method):
        raise InvalidInput(
            "method", method, "is not a method", "give such as fedconvex.Scaffold or FedSplit(stepsize=1)"
        )
    own = {f.name: f for f in fields(kind)}  # type: ignore[arg-type]
    known = [name for name, f in own.items() if "number" in f.metadata or name == "local_steps"]
    if over is None:
        over = [name for name in known if name == "local_steps" or _is_required(own[name])]
    names = (over,) if isinstance(over, str) else tuple(over) if isinstance(over, Sequence) else ()
    if not names or len({*names}) < len(names):
        raise InvalidInput("over", over, "names no parameters, or one twice", f"give some of {', '.join(known)}")
    for name in names:
        if name not in known:
            problem = f"is no number that {kind.__name__} can be designed in"
            raise InvalidInput("over", name, problem, one_of(name, known))
    if local_solver is not None and {"stepsize", "local_steps"} & {*names}:
        raise InvalidInput("local_solver", local_solver, "takes the place of the method's own steps, which are to be "
                           "designed", "leave it out")  # fmt: skip
    if isinstance(method, Method):
        return Varied(kind, {name: getattr(method, name) for name in own if name not in names}, names)
    missing = [name for name in own if name not in names and _is_required(own[name])]
    if missing:
        raise InvalidInput("over", over, f"leaves out {', '.join(missing)}", "give a method in place of its class, or "
                           "design them, too")  # fmt: skip
    return Varied(kind, {}, names)


def _is_required(f: Any) -> bool:
    return f.default is MISSING and f.default_factory is MISSING


def real_parameters(free: Varied) -> list[str]:
    """The names of the real numbers among a method's parameters that are positive, free or fixed."""
    real = [f.name for f in fields(free.kind) if "number" in f.metadata]  # type: ignore[arg-type]
    return [name for name in real if name in free.names or free.fixed.get(name)]


def with_curvatures(clients: FunctionClass, low: Fraction, high: Fraction) -> FunctionClass:
    """The same class with other constants."""
    if isinstance(clients, SimilarClients):
        return SimilarClients(mu=low, L=high, delta=to_fraction(clients.delta) * high / clients.highest)
    return type(clients)(mu=low, L=high)
