"""The parameters of a setting: what follows from its conditions, and the values of formulas in them."""

from collections.abc import Iterable, Iterator
from typing import Any, final

from fedconvex.claims.claim import ClaimSetting
from fedconvex.claims.terms import Number, parts
from fedconvex.proofs_checks.kernel.formulas import has_parameter, other_roots, roots
from fedconvex.proofs_checks.kernel.proofs import ROUND, STEP
from fedconvex.proofs_checks.kernel.scalars import Field, Refused, Scalar, require

MOST_POWER = 40  # an exponent in a formula


@final
class SettingParameters:
    """The field of a setting's parameters, with the setting's conditions.

    Args:
        setting: all that is assumed.
        terms: the terms that will be read, for the roots in them.
        rounds: the parameter that counts the rounds of a run, or the local steps; "" where there is none.
    """

    def __init__(self, setting: ClaimSetting, terms: Iterable[Any] = (), rounds: str = ""):
        self.setting = setting
        steps = any_steps(setting)
        rounds = rounds or steps
        require(not rounds or rounds in setting.counts, f"{rounds} is no count of rounds")
        terms = (*setting.formulas, *terms)
        own = {"σ"} if setting.draws.scheme == "uniform" else set()
        of_step = rounds == steps != "" and any(has_parameter(term, STEP) for term in terms)
        own |= {STEP} if of_step else set()
        if rounds and any(has_parameter(term, ROUND) for term in terms):
            own.add(ROUND)
        self.names = {*setting.signs, *own}
        sums = (*(Powers.OF_ROUNDS if rounds else ()), *(Powers.OF_STEPS if of_step else ()))
        self.field = _field(setting, terms, own, sums)
        self.powers = Powers(self.field, rounds)
        self.powers_of_step = Powers(self.field, STEP if of_step else "", Powers.OF_STEPS, 0)
        self._assume_conditions()
        self.chances = self._chances()

    def _assume_conditions(self) -> None:
        """Tells the field what the setting's parameters satisfy."""
        field, setting = self.field, self.setting
        chosen = {left.args[0] for left, relation, _ in setting.conditions if _is_choice(left, relation)}
        # The other conditions come first: they may decide the maxima in a choice, and they may be about what is chosen.
        for left, relation, right in sorted(setting.conditions, key=lambda c: _turn(c, chosen)):
            if _is_choice(left, relation) and field.choose(left.args[0], self.value(right)):
                continue
            larger, smaller = self._roots_of(self.value(left), self.value(right))
            field.assume(larger - smaller, relation == ">")
            if relation == "=":
                field.assume(smaller - larger, False)
        for name in sorted(setting.counts):
            rooted = name in field.roots  # √K ≥ 1 says as much as K ≥ 1, and is linear in the symbol √K
            field.assume(field.symbol(f"√{name}" if rooted else name) - 1, False)
        # σ = (m − P)/(P(m − 1)) lies in [0, 1]; it is any such number where m = 1
        if setting.draws.scheme == "uniform":
            field.assume(1 - field.symbol("σ"), False)

    def _roots_of(self, *sides: Scalar) -> tuple[Scalar, ...]:
        """The roots of both sides of a condition where the field has them, such as √κ ≥ 1 for κ ≥ 1; else the sides."""
        try:
            return tuple(self.field.root(side) for side in sides)
        except Refused:
            return sides

    def _chances(self) -> dict[str, Scalar | None]:
        """The numbers 1, π, σ and πσ of the draw (`vectors`); None where they are not known."""
        draws, one = self.setting.draws, self.field.scalar(1)
        if draws.scheme == "everyone":
            return {"1": one, "π": one, "σ": one - 1, "πσ": one - 1}
        active = self.value(draws.active)
        if draws.scheme == "independent":
            return {"1": one, "π": None, "σ": 1 / active, "πσ": None}
        clients = self.value(draws.clients)
        require(self.field.is_nonnegative(clients - active), "more clients are drawn than there are")
        scale = self.field.symbol("σ")
        return {"1": one, "π": active / clients, "σ": scale, "πσ": active / clients * scale}

    def chance(self, name: str) -> Scalar:
        """One of the numbers of the draw. Raises Refused where it is not known."""
        found = self.chances[name]
        require(found is not None, "memories are not known for this draw")
        assert found is not None
        return found

    def value(self, term: Any) -> Scalar:
        """The value of a term in parameters alone. Raises Refused."""
        match term.head, term.args:
            case "constant", (c,):
                return self.field.scalar(c)
            case "parameter", (name,):
                # The field's other symbols have their meaning from the kernel alone.
                require(name in self.names, f"{name} is no parameter of the setting")
                return self.field.parameter(name)
            case "named", (_, x):
                return self.value(x)
            case "neg", (x,):
                return -self.value(x)
            case "+", (x, y):
                return self.value(x) + self.value(y)
            case "-", (x, y):
                return self.value(x) - self.value(y)
            case "*", (x, y):
                return self.field.scalar(self.value(x) * self.value(y))
            case "/", (x, y):
                return self.value(x) / self.value(y)
            case "^", (x, Number("constant", (n,))):
                return self.value(x) ** small_integer(n)
            case "^", (x, y):
                return self._power_of_rounds(self.value(x), self.value(y))
            case "root", (x,):
                return self.field.root(self.value(x))
            case "exp", (x,):
                return self.field.exp(self.value(x))
            case "max", (x, y):
                first, second = self.value(x), self.value(y)
                larger = first if self.field.is_nonnegative(first - second) else second
                require(self.field.is_nonnegative(larger - first), "an undecided maximum")
                return larger
        raise Refused(f"{term.head} has no meaning in a formula that depends on parameters only")

    def bernoulli(self, ratio: Number, order: int) -> Scalar:
        """What Bernoulli's inequality, or the next partial sum of the binomial series, says is ≥ 0."""
        require(order in (1, 2), f"{order} is no order of Bernoulli's inequality")
        require(self.powers.count, "Bernoulli's inequality, where nothing counts")
        r, T = self.value(ratio), self.field.parameter(self.powers.count)
        require(self.field.is_nonnegative(r) and self.field.is_nonnegative(1 - r), f"{ratio} may lie outside [0, 1]")
        gap = self.powers.power(r) - 1 + T * (1 - r)
        return gap if order == 1 else self.field.scalar((1 - r) ** 2 * T * (T - 1) / 2 - gap)

    def _power_of_rounds(self, r: Scalar, exponent: Scalar) -> Scalar:
        """r^n, r^(±T + n), or r^(±2T + n) = (r²)^(±T) r^n, with an integer n; the same with `STEP` for T."""
        if exponent.above.total_degree() <= 0:
            return r ** integer(exponent)  # ι + 1 at the first step
        require(self.powers.count, "an exponent that is no constant")
        for powers in (self.powers, self.powers_of_step):
            for times in (1, -1, 2, -2) if powers.count else ():
                rest = exponent - self.field.parameter(powers.count) * times
                if rest.above.total_degree() <= 0 and rest.below == rest.field.one:
                    whole, more = powers.power(r ** abs(times)), integer(rest)
                    found = whole if times > 0 else 1 / whole
                    return self.field.scalar(found * r**more) if more else found
        raise Refused("an exponent that is not T plus an integer")


def _field(setting: ClaimSetting, terms: tuple[Any, ...], own: set[str], sums: tuple[str, ...]) -> Field:
    """The field of the setting's parameters, of the kernel's own, and of these sums of powers."""
    signs = {**setting.signs, **dict.fromkeys(own, "nonnegative")}
    reserved = {"σ", ROUND, STEP, *Powers.OF_ROUNDS, *Powers.OF_STEPS}
    require(not reserved & setting.signs.keys(), "a parameter with a name of the kernel's")
    signs |= {name: "positive" if name in Powers.OF_ROUNDS else "nonnegative" for name in sums}
    exponentials = {p for term in terms for p in parts(term) if p.head == "exp"}
    return Field(signs, roots(terms), len(other_roots(terms)), len(exponentials))


# Methods whose formulas use the number of local steps in their local solver alone, and its stepsize times that number.
ANY_STEPS = ("FedGD", "FedLin", "Scaffold")


def any_steps(setting: ClaimSetting) -> str:
    """The parameter that is the number of the clients' local gradient steps; "" where none is."""
    steps = setting.gradient_steps.get("steps")
    own = setting.method_parameters.get("local_steps")
    if type(own) is Number and own.head == "parameter":
        require(steps is None and setting.method in ANY_STEPS, "any number of local steps")
        steps = own
    if steps is None or steps.head != "parameter":
        return ""
    name: str = steps.args[0]
    require(name in setting.counts, "any number of local steps, which may be no integer")
    return name


def integer(value: Scalar, name: str = "an exponent") -> int:
    """The value, which must be an integer."""
    whole = value.below == value.field.one and value.above.total_degree() <= 0
    require(whole, f"{name} that is no integer")
    return int(str(value.above))


def small_integer(n: Any) -> int:
    """The exponent, which must be a small integer."""
    require(n.denominator == 1 and abs(n) <= MOST_POWER, f"the exponent {n} is no small integer")
    return int(n)


def _is_choice(left: Number, relation: str) -> bool:
    """Whether the condition says what one parameter is."""
    return relation == "=" and left.head == "parameter"


def _turn(condition: tuple[Number, str, Number], chosen: set[str]) -> int:
    """Conditions without the parameters that are chosen, then those that choose them, then those that use them."""
    left, relation, right = condition
    return 1 if _is_choice(left, relation) else 2 if chosen & {*_names(left), *_names(right)} else 0


def _names(term: Number) -> Iterator[str]:
    return (part.args[0] for part in parts(term) if part.head == "parameter")


@final
class Powers:
    """r^T and Σ_{t<T} r^t for numbers r ≥ 0: S_r is an unknown of the field, and r^T = 1 + (r − 1)S_r.

    S_1 is T. Of the others all that is known is S_r ≥ 1 where T ≥ 1, and r^T ≥ 0, or > 0 where r > 0.

    Args:
        field: with symbols of these names.
        count: the parameter T; "" where there is none.
        names: of the unknown sums: a proof mentions at most so many ratios.
        least: the smallest T, 0 or 1.
    """

    OF_ROUNDS = ("Σ0", "Σ1", "Σ2", "Σ3")
    OF_STEPS = ("Σι0", "Σι1")

    def __init__(self, field: Field, count: str, names: tuple[str, ...] = OF_ROUNDS, least: int = 1):
        self.field, self.count, self.left, self.least = field, count, list(names), least
        self.known: list[tuple[Scalar, Scalar]] = []

    def number(self, ratio: Scalar) -> int:
        """The place of this ratio among those that have been met."""
        self.sum(ratio)
        return next(k for k, (r, _) in enumerate(self.known) if r == ratio)

    def sum(self, ratio: Scalar) -> Scalar:
        """Σ_{t<T} r^t."""
        for r, found in self.known:
            if r == ratio:
                return found
        require(self.count, "a power of T in a claim about one round")
        if ratio == 1:
            self.known.append((ratio, self.field.parameter(self.count)))
            return self.known[-1][1]
        require(self.field.is_nonnegative(ratio), f"the power of {ratio}, which may be negative")
        require(self.left, "sums of powers of too many ratios")
        made = self.field.symbol(self.left.pop(0))
        self.known.append((ratio, made))
        if self.least:
            self.field.assume(made - 1, False)
        self.field.assume(1 + (ratio - 1) * made, self.field.is_positive(ratio))
        return made

    def power(self, ratio: Scalar, more: int = 0) -> Scalar:
        """r^(T + more)."""
        whole = 1 + (ratio - 1) * self.sum(ratio)
        return self.field.scalar(whole * ratio**more if more else whole)
