"""Proofs by cases: the claim in every case, without the maxima that the case decides."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, final

from fedconvex.claims.claim import Claim, ClaimSetting
from fedconvex.claims.terms import Number, Vector, number, parameter, parts, with_parts
from fedconvex.proofs_checks.kernel import proofs
from fedconvex.proofs_checks.kernel.formulas import is_of_parameters
from fedconvex.proofs_checks.kernel.parameters import SettingParameters
from fedconvex.proofs_checks.kernel.replay import _is_count, _is_integer, _terms
from fedconvex.proofs_checks.rocq.terms import Missing
from fedconvex.proofs_checks.rocq.theorems import Conditions


@final
@dataclass(frozen=True)
class Derived:
    """a <= x, or x <= b (strictly for a < b), because a·b <= x², or x² <= a·b, of positive numbers a <= b."""

    a: Number
    b: Number
    x: Number
    square: Number  # x², as it is written
    above: bool
    strictly: bool

    @property
    def condition(self) -> tuple[Number, str, Number]:
        """The condition that follows."""
        larger, smaller = (self.x, self.a) if self.above else (self.b, self.x)
        return larger, ">" if self.strictly else ">=", smaller


@final
@dataclass
class Case:
    """One case of a proof: its setting, with the conditions `under` and `derived` among its own, claim and proof.

    `pinned` are integers that are 1 in this case, in whose place its terms have the number.
    `derived` are conditions that follow from these and have no squares: their roots would be needed otherwise. `maxima`
    are the numbers max(x, y) that the case decides, those inside others first, and whether each is x.
    """

    name: str
    setting: ClaimSetting
    under: Conditions
    claim: Claim
    derivation: proofs.Derivation
    derived: "tuple[Derived, ...]" = ()
    maxima: dict[Number, bool] = field(default_factory=dict)
    pinned: tuple[str, ...] = ()
    of_maxima: Conditions = ()  # the setting's conditions that have maxima, without these

    @property
    def before_maxima(self) -> ClaimSetting:
        """The setting, without conditions that are known only once maxima are decided."""
        kept = tuple(c for c in self.setting.conditions if c not in self.of_maxima)
        return replace(self.setting, conditions=kept)


@final
@dataclass
class Split:
    """Where a proof decides between `more` >= `less` and `less` (or `one_less`) >= `more`."""

    more: Number
    less: Number
    one_less: Number | None  # of an integer that is not at least `less`
    above: "Split | Case"
    below: "Split | Case"

    @property
    def cases(self) -> list[Case]:
        """All cases, in the order of the proof."""
        return [case for side in (self.above, self.below) for case in cases_in(side)]


def cases_in(of: Split | Case) -> list[Case]:
    """The cases of a proof or of a part of it."""
    return of.cases if isinstance(of, Split) else [of]


def split(name: str, setting: ClaimSetting, claim: Claim, derivation: proofs.Derivation) -> Split | Case:
    """The cases of the proof, called `name_case_1`, `name_case_2`, ..."""
    count = iter(range(1, 1000))

    def of(under: Conditions, derived: proofs.Derivation) -> Split | Case:
        inside = replace(setting, conditions=(*setting.conditions, *under))
        if (cases := derived.cases) is None:
            known = tuple(_derived(inside, under))
            inside = replace(inside, conditions=(*inside.conditions, *(one.condition for one in known)))
            return _decided(Case(f"{name}_case_{next(count)}", inside, under, claim, derived, known))
        whole = _is_count(cases.more, setting) and _is_integer(cases.less)
        one_less = cases.less - 1 if whole else None
        above, below = (cases.more, ">=", cases.less), (one_less or cases.less, ">=", cases.more)
        return Split(
            cases.more, cases.less, one_less, of((*under, above), cases.above), of((*under, below), cases.below)
        )

    return of((), derivation)


def _derived(setting: ClaimSetting, under: Conditions) -> Iterator[Derived]:
    """What conditions on x² and on a product of two parameters say of x and these parameters."""
    parameters = SettingParameters(setting, [])
    for left, _, right in under:
        for square, product, above in ((left, right, True), (right, left, False)):
            match product.head, product.args:
                case "*", (a, b) if (x := _root(square)) is not None and all(y.head == "parameter" for y in (a, b)):
                    difference = parameters.value(b - a)
                    if parameters.field.is_nonnegative(difference) and parameters.field.is_positive(
                        parameters.value(a)
                    ):
                        yield Derived(a, b, x, square, above, parameters.field.is_positive(difference))


def _root(square: Number) -> Number | None:
    """x, of x² or 1/y² with x = 1/y."""
    match square.head, square.args:
        case "^", (x, Number("constant", (n,))) if n == 2:
            return x  # type: ignore[no-any-return]
        case "/", (Number("constant", (one,)), Number("^", (x, Number("constant", (n,))))) if (one, n) == (1, 2):
            return 1 / x  # type: ignore[no-any-return]
    return None


def _decided(case: Case) -> Case:
    """The case with the larger number in the place of every maximum of parameters, and 1 for what is 1."""
    terms = [*_terms(case.claim), *_terms(case.derivation)]
    parameters = SettingParameters(case.setting, terms, case.claim.rounds)
    draws = (case.setting.draws.active, case.setting.draws.clients)
    of_draw = {x.args[0] for x in draws if x is not None and x.head == "parameter"}
    names = sorted(case.setting.counts & of_draw)
    case.pinned = tuple(n for n in names if parameters.field.is_nonnegative(1 - parameters.value(parameter(n))))

    def in_case(of: Any) -> Any:
        if type(of) is Number and of.head == "parameter" and of.args[0] in case.pinned:
            return number(1)
        if type(of) is Number and of.head == "max" and is_of_parameters(of):
            x, y = map(in_case, of.args)
            first = parameters.field.is_nonnegative(parameters.value(x) - parameters.value(y))
            case.maxima.setdefault(Number("max", (x, y)), first)
            return x if first else y
        if type(of) is tuple:
            return tuple(in_case(part) for part in of if not (case.derived and _names_roots(part, parameters)))
        if isinstance(of, Mapping):
            return {name: in_case(one) for name, one in of.items() if name not in case.pinned}
        return with_parts(of, in_case)

    setting, claim, conditions = case.setting, case.claim, case.setting.conditions
    case.of_maxima = in_case(tuple(c for c in conditions if any(p.head == "max" for s in c[::2] for p in parts(s))))
    case.setting = in_case(replace(setting, counts=setting.counts - {*case.pinned}))
    said = tuple(c for c in case.setting.conditions if any(p.head == "parameter" for s in c[::2] for p in parts(s)))
    case.setting = replace(case.setting, conditions=said)
    case.claim = in_case(claim)
    of_claim = dict(case.maxima)
    case.derivation = in_case(case.derivation)
    case.maxima = of_claim  # the proof's own are no part of any theorem
    return case


def _names_roots(of: Any, parameters: SettingParameters) -> bool:
    """Whether it is a fact 0 >= 0 with its multiplier, which names roots that derived conditions do without."""
    match of:
        case (Number(), proofs.Nonnegative(Number("*") as zero)):
            return parameters.value(zero).is_zero
    return False


def same_invariants(cases: list[Case]) -> tuple[tuple[str, Vector], ...]:
    """What all cases know of the method's state. Raises Missing where they differ."""
    found = {case.derivation.invariants for case in cases}
    if len(found) > 1:
        raise Missing("cases with different invariants")
    return found.pop()
