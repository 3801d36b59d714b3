"""Claims about runs in terms of one round: powers as sums of powers, infimum as parameter, linear combinations."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, final

from fedconvex.claims.claim import ClaimSetting
from fedconvex.claims.terms import (
    Number,
    Vector,
    gradient,
    inner,
    minimiser,
    norm,
    number,
    objective_gradient,
    parameter,
    parts,
    value,
    with_parts,
    without_names,
)
from fedconvex.proofs_checks.kernel import proofs
from fedconvex.proofs_checks.kernel.formulas import is_of_parameters
from fedconvex.proofs_checks.kernel.parameters import SettingParameters, integer
from fedconvex.proofs_checks.kernel.replay import _terms
from fedconvex.proofs_checks.kernel.scalars import Refused, Scalar
from fedconvex.proofs_checks.rocq.objective import curvature
from fedconvex.proofs_checks.rocq.terms import Missing, Writer
from fedconvex.proofs_checks.rocq.theorems import INFIMUM


@final
class Exponentials:
    """The parameters that stand for exp(x), and every x of theirs as it is written somewhere."""

    def __init__(self) -> None:
        self.exponents: dict[str, list[Number]] = {}

    @property
    def names(self) -> set[str]:
        """Of the parameters."""
        return set(self.exponents)

    def named(self, exponent: Number, parameters: SettingParameters) -> Number:
        """The parameter for exp(x), one for all x of the same value."""
        exponent = without_names(exponent)
        value = parameters.value(exponent)
        for name, known in self.exponents.items():
            if parameters.value(known[0]) == value:
                if exponent not in known:
                    known.append(exponent)
                return parameter(name)
        name = f"exp_{len(self.exponents) + 1}"
        if name in parameters.setting.signs:
            raise Missing(f"a parameter called {name}")
        self.exponents[name] = [exponent]
        return parameter(name)

    def are_in(self, of: Number) -> bool:
        """Whether the formula has such a parameter."""
        return any(part.head == "parameter" and part.args[0] in self.exponents for part in parts(of))

    def put_back(self, of: Number) -> Number:
        """The formula with exp(x) in the place of its parameters."""
        for name, (exponent, *_) in self.exponents.items():
            of = of.put(parameter(name), exponent.exp())
        return of

    def known(self, of: set[str]) -> list[tuple[Number, str, Number]]:
        """What is known of these parameters, as conditions of a setting."""
        return [(parameter(name), ">=", 1 + exponent) for name, (exponent, *_) in self.exponents.items() if name in of]

    def introduced(self, writer: Writer) -> list[str]:
        """Tactics that name the values, with what is known of them."""
        lines = []
        for name, (exponent, *_) in self.exponents.items():
            x = writer.factor(exponent)
            lines += [
                f"destruct (a_name (exp {x})) as ({name} & {name}_is).",
                f"assert ({name}_sign : 0 < {name}) by (rewrite <- {name}_is; apply exp_pos).",
                f"assert ({name}_least : {writer.number(1 + exponent)} <= {name})",
                f"  by (rewrite <- {name}_is; apply exp_ineq1_le).",
            ]
        return lines

    def rewriting(self, of: Iterable[Any], writer: Writer, identity: str) -> list[str]:
        """Tactics that write these terms' values in the goal by their names."""
        lines = []
        in_terms = {without_names(part.args[0]) for term in of for part in parts(term) if part.head == "exp"}
        for name, (_, *others) in self.exponents.items():
            for x in others:
                if x in in_terms:
                    lines.append(f"replace (exp {writer.factor(x)}) with {name}")
                    lines.append(f"  by (rewrite <- {name}_is; f_equal; {identity}).")
            lines.append(f"rewrite ?{name}_is.")
        return lines


BEFORE = "rounds_before"  # the parameter for the number of rounds before any one
ONE = number(1)


@final
@dataclass
class RoundRatio:
    """A number whose powers a run has: r, and the parameter that stands for the sum of the r^j over the rounds."""

    ratio: Number
    sum: Number

    @property
    def is_one(self) -> bool:
        return self.ratio == ONE

    def power(self, more: int = 0) -> Number:
        """r^(T + more)."""
        if self.is_one:
            return ONE
        whole = 1 + (self.ratio - 1) * self.sum
        return whole if not more else whole * self.ratio**more if more > 0 else whole / self.ratio ** (-more)


@final
@dataclass
class RunTerms:
    """Rewrites terms of a run of `count` rounds so that they have no powers of the number of rounds and no infimum."""

    setting: ClaimSetting
    parameters: SettingParameters
    count: str
    ratios: list[RoundRatio] = field(default_factory=list)
    displayed: list[tuple[Number, RoundRatio, int]] = field(
        default_factory=list
    )  # powers, ratio and what is more than T
    exponentials: Exponentials = field(default_factory=Exponentials)

    def value(self, of: Number) -> Scalar:
        """The value of a formula, rewritten or not."""
        return self.parameters.value(self.exponentials.put_back(of))

    def ratio(self, of: Number) -> RoundRatio:
        """The ratio of this value, the same one always."""
        of = self.rewritten(without_names(of))
        of_value = self.value(of)
        for known in self.ratios:
            if self.value(known.ratio) == of_value:
                return known
        if of_value == 1:
            self.ratios.append(RoundRatio(ONE, parameter(self.count)))
        else:
            name = f"S{len(self.ratios) + 1}"
            if name in self.setting.signs:
                raise Missing(f"a parameter called {name}")
            self.ratios.append(RoundRatio(of, parameter(name)))
        return self.ratios[-1]

    def rewritten(self, of: Any) -> Any:
        """The term, claim or proof without powers of the number of rounds and without infimum."""
        if type(of) in (Vector, Number):
            match of.head, of.args:
                case "named", (_, inside):
                    return self.rewritten(inside)
                case "infimum", ():
                    return parameter(INFIMUM)
                case "parameter", (proofs.ROUND,):
                    return parameter(BEFORE)
                case "^", (r, exponent) if exponent.head != "constant":
                    return self._power(r, exponent)
                case "exp", (x,):
                    return self.exponentials.named(x, self.parameters)
                case ("log" | "ceil") as head, _:
                    raise Missing(f"the number {head}")
        return with_parts(of, self.rewritten)

    def _power(self, r: Number, exponent: Number) -> Number:
        """r^(T + n), with n = -1, 0 or 1, or r^(2T) = (r²)^T."""
        times, more = self._multiple(exponent)
        if more not in {1: (-1, 0, 1), 2: (0,)}.get(times, ()):
            raise Missing("a power of the number of rounds of this form")
        known = self.ratio(r if times == 1 else r**times)
        if (pair := (Number("^", (r, exponent)), known, more)) not in self.displayed:
            self.displayed.append(pair)
        return known.power(more)

    def _multiple(self, exponent: Number) -> tuple[int, int]:
        """The integers m and n of an exponent mT + n."""
        counted = self.parameters.field.parameter(self.count)
        for times in (1, -1, 2):
            try:
                return times, integer(self.parameters.value(exponent) - counted * times)
            except Refused:
                continue
        raise Missing("a power of a multiple of the number of rounds")

    def is_doubled(self, exponent: Number) -> bool:
        """Whether it is twice the number of rounds."""
        return self._multiple(exponent)[0] == 2

    def setting_for(self, *terms: Any) -> ClaimSetting:
        """The setting, with what is known of the sums of powers and the infimum in these terms."""
        named = {p.args[0] for term in terms for t in _terms(term) for p in parts(t) if p.head == "parameter"}
        named |= {p.args[0] for known in self.ratios if known.sum.args[0] in named for p in parts(known.ratio)
                  if p.head == "parameter"}  # fmt: skip
        signs, conditions = dict(self.setting.signs), list(self.setting.conditions)
        signs |= dict.fromkeys(self.exponentials.names & named, "positive")
        conditions += self.exponentials.known(named)
        if INFIMUM in named:
            signs[INFIMUM] = "real"
        if BEFORE in named:
            signs[BEFORE] = "nonnegative"
        for known in self.ratios:
            (name,) = known.sum.args
            if name in named and not known.is_one:
                signs[name] = "positive"
                positive = self.parameters.field.is_positive(self.value(known.ratio))
                conditions += [(known.sum, ">=", ONE), (known.power(), ">" if positive else ">=", number(0))]
        return replace(self.setting, signs=signs, conditions=tuple(conditions))


Combination = list[tuple[Number, Number | None]]  # multiples of unknown numbers; None for the number 1


def combination(of: Number) -> Combination:
    """The number as a linear combination of inner products, values and what else is not of parameters alone."""
    match of.head, of.args:
        case "named", (_, x):
            return combination(x)
        case "expected", (x,):
            return combination(x)
        case "+", (x, y):
            return [*combination(x), *combination(y)]
        case "-", (x, y):
            return [*combination(x), *_times(number(-1), combination(y))]
        case "neg", (x,):
            return _times(number(-1), combination(x))
        case "*", (c, x) if is_of_parameters(c):
            return _times(c, combination(x))
        case "*", (x, c) if is_of_parameters(c):
            return _times(c, combination(x))
        case "/", (x, c) if not is_of_parameters(x):
            return [(a / c, atom) for a, atom in combination(x)]
        case "^", _ if (length := squared_length(of)) is not None:
            return [length]
    return [(of, None)] if is_of_parameters(of) else [(ONE, of)]


def squared_length(of: Number) -> tuple[Number, Number] | None:
    """c² and ⟨u, u⟩, of (c‖u‖)²; None for another number."""
    match of.head, of.args:
        case "^", (x, Number("constant", (n,))) if n == 2 and not is_of_parameters(x):
            (c, atom), *others = combination(x)
            if not others and atom is not None and atom.head == "norm":
                (u,) = atom.args
                return c**2, inner(u, u)
    return None


def _times(c: Number, of: Combination) -> Combination:
    return [(c if a == ONE else c * a, atom) for a, atom in of]


def at_most_zero(fact: Any, setting: ClaimSetting, lines: Mapping[str, Any], claim_of: Any) -> Number:
    """What the fact says is >= 0, as a term of the claim language."""
    match fact:
        case proofs.Lower(b, a, least):
            c = least or curvature(setting, 0)
            return value(b) - value(a) - inner(gradient(a), b - a) - (c / 2) * inner(b - a, b - a)
        case proofs.Upper(b, a, most):
            c = most or curvature(setting, 1)
            return value(a) + inner(gradient(a), b - a) + (c / 2) * inner(b - a, b - a) - value(b)
        case proofs.Between(b, a, least, most):
            slope = objective_gradient if None in setting.curvature else gradient
            low, high = least or curvature(setting, 0), most or curvature(setting, 1)
            g, d = slope(b) - slope(a), b - a
            return inner(g - low * d, high * d - g)
        case proofs.CauchySchwarz(u, v, sign):
            return norm(u) * norm(v) - number(sign) * inner(u, v)
        case proofs.Infimum(at):
            return value(at) - parameter(INFIMUM)
        case proofs.ClientInfima(at) if setting.objective_gap is not None:
            return value(at) - value(minimiser) + setting.objective_gap
        case proofs.Nonnegative(of):
            return of
        case proofs.Hypothesis("initial gap") if setting.initial_gap is not None:
            return setting.initial_gap - (value(Vector("server", (0,))) - parameter(INFIMUM))
        case proofs.Earlier(line) if line in lines:
            difference: Number = lines[line].right - lines[line].left
            return difference
        case proofs.Proved(identifier):
            claim = claim_of(identifier)
            of_claim: Number = claim.right - claim.left
            return of_claim
    raise Missing(f"{type(fact).__name__} in a run")
