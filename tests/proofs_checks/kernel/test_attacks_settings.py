"""Attacks through the setting: contradictions, empty domains, methods and draws that do not exist, wrong types."""

from collections.abc import Iterator, Mapping
from fractions import Fraction
from typing import Any

from fedconvex.claims.claim import ClaimSetting, DrawScheme, at_most
from fedconvex.claims.terms import (
    Number,
    expected,
    family,
    gradient,
    inner,
    minimiser,
    named,
    number,
    parameter,
    server,
    square,
    value,
)
from fedconvex.proofs_checks.kernel import Refused, theorem
from fedconvex.proofs_checks.kernel.proofs import Between, Hypothesis, Lower, Nonnegative, Upper

from .attacks import (
    FALSE,
    ONE,
    POSITIVE,
    TRUE,
    ZERO,
    Attack,
    a,
    accepted,
    changed,
    drawing,
    one_line,
    parametrised,
    refused,
    some,
)

x = parameter("x")
P = parameter("P")


def empty(reason: str, setting: ClaimSetting, facts: Any = POSITIVE, claim: Any = TRUE, **more: Any) -> Attack:
    """Even a true claim is refused in such a setting."""
    return Attack(reason, setting, claim, facts, **more)


def unchecked(**values: Any) -> ClaimSetting:
    return changed(ClaimSetting(), **values)


DOMAINS = {
    "no example": empty("no example", ClaimSetting(signs={"x": "positive"})),
    "an example of other parameters": empty("no example", ClaimSetting(example={"x": Fraction(1)})),
    "an example that is not positive": empty("is not positive", some("x", example={"x": Fraction(0)})),
    "an example below 0": empty("is not nonnegative", some("x", sign="nonnegative", example={"x": Fraction(-1)})),
    "conditions that contradict each other": empty(
        "outside the domain", some("x", conditions=((x, ">", ONE), (ONE, ">", x))), (
        (1, Nonnegative(x - 1)),), FALSE),
    "a condition that contradicts a sign": empty("outside the domain", some("x", conditions=((ZERO, ">", x),))),
    "1 = 0": empty("outside the domain", ClaimSetting(conditions=((ONE, "=", ZERO),)), ((-1, Nonnegative(ONE)),),
        FALSE),
    "√2 = 3/2": empty("outside the domain",
        ClaimSetting(conditions=((number(2).sqrt(), "=", number(Fraction(3, 2))),))),
    "√2·√2 > 2": empty("outside the domain",
        ClaimSetting(conditions=((number(2).sqrt() * number(2).sqrt(), ">", number(2)),))),
    "√2 − √2 > 0": empty("outside the domain",
        ClaimSetting(conditions=((number(2).sqrt() - number(2).sqrt(), ">", ZERO),))),
    "1/(√2 − √2) > 0": empty("divides by 0",
        ClaimSetting(conditions=((1 / (number(2).sqrt() - number(2).sqrt()), ">", ZERO),))),
    "√−1 > 0": empty("outside the domain", ClaimSetting(conditions=((number(-1).sqrt(), ">", ZERO),))),
    "max(0, −1) > 0": empty("outside the domain",
        ClaimSetting(conditions=((Number("max", (ZERO, number(-1))), ">", ZERO),))),
    "max(√2, 1) > 2": empty("outside the domain",
        ClaimSetting(conditions=((Number("max", (number(2).sqrt(), ONE)), ">", number(2)),))),
    "1/0 > 0": empty("divides by 0", ClaimSetting(conditions=((1 / ZERO, ">", ZERO),))),
    "0⁻¹ > 0": empty("divides by 0", ClaimSetting(conditions=((ZERO**-1, ">", ZERO),))),
    "a count of one half": empty("is no count", some("x", counts=frozenset("x"), example={"x": Fraction(1, 2)})),
    "a count of 0": empty("is no count",
        some("x", sign="nonnegative", counts=frozenset("x"), example={"x": Fraction(0)})),
    "a count of an unknown parameter": empty("is no count", ClaimSetting(counts=frozenset("x"))),
    "a condition with a vector": empty("has no value at the example",
        ClaimSetting(conditions=((square(server(0)), ">=", ZERO),))),
    "a condition with an unknown parameter": empty("no parameter of the setting",
        ClaimSetting(conditions=((x, ">=", ZERO),))),
    "curvature with an unknown parameter": empty("no parameter of the setting", ClaimSetting(curvature=(None, x))),
    "curvature with σ": empty("no parameter of the setting", drawing(curvature=(None, parameter("σ") + 1))),
    "a method with σ": empty("no parameter", drawing("FedDyn", method_parameters={"alpha": parameter("σ") + 1})),
    "curvature of a length": empty("has no value at the example", ClaimSetting(curvature=(None, square(server(0))))),
    "a random inexactness": empty("has no value",
        some("a", method="FedProx", method_parameters={"mu": a}, answers="inexact",
        inexactness=expected(square(server(0))))),
    "curvatures in an empty interval": empty(
        "empty interval", ClaimSetting(curvature=(number(2), ONE)), ((1, Lower(server(0), minimiser)),), FALSE),
    "the objective's curvatures in an empty interval": empty("empty interval",
        ClaimSetting(objective=(number(2), ONE))),
    "clients more curved than the objective": empty("empty interval",
        ClaimSetting(curvature=(number(2), None), objective=(None, ONE))),
    "an objective more curved than the clients": empty("empty interval",
        ClaimSetting(curvature=(None, ONE), objective=(number(2), None))),
    "concave functions with a minimiser": empty("curvature is too small",
        ClaimSetting(curvature=(number(-2), number(-1)), minimiser=True)),
    "a concave objective with a minimiser": empty("curvature is too small",
        ClaimSetting(objective=(None, number(-1)), minimiser=True)),
    "subproblems without minimisers": empty(
        "curvature is too small", some("a", method="FedProx", method_parameters={"mu": a},
        curvature=(None, number(-2)))),
    "flat functions with a large gradient": empty(
        "curvature is too small", ClaimSetting(curvature=(ZERO, ZERO), minimiser=True, large_gradient=ONE)),
    "a flat objective with a large gradient": empty(
        "curvature is too small", ClaimSetting(objective=(ZERO, ZERO), minimiser=True, large_gradient=ONE),
        ((1, Hypothesis("large gradient")), (1, Between(server(0), minimiser))), FALSE),
    "a dissimilarity below 1": empty("dissimilarity of the example is too small",
        ClaimSetting(dissimilarity=number(Fraction(1, 2)))),
    "a negative variance": empty("variance of the example is too small", ClaimSetting(variance=number(-1)),
        ((1, Hypothesis("variance")),), at_most(0, -1)),
    "a negative inexactness": empty("inexactness of the example is too",
        drawing("FedProx", answers="inexact", inexactness=number(-1))),
    "more drawn than there are": empty("more clients are drawn", drawing("FedDyn", conditions=())),
    "more drawn than there are, by numbers": empty("more clients are drawn",
        ClaimSetting(draws=DrawScheme("uniform", number(3), number(2)))),
    "nobody is drawn": empty("are counts", ClaimSetting(draws=DrawScheme("uniform", ZERO, number(5))),
        ((1, Hypothesis("scale")),), at_most(5, 0)),
    "half a client is drawn": empty("are counts",
        ClaimSetting(draws=DrawScheme("uniform", number(Fraction(1, 2)), number(5)))),
    "a negative number is drawn": empty("are counts", ClaimSetting(draws=DrawScheme("independent", number(-1)))),
    "a number of clients that is no count": empty("are counts", drawing(counts=frozenset("P"))),
    "a formula of clients": empty("are counts", drawing(draws=DrawScheme("uniform", P, parameter("m") + 1))),
    "a number of draws that is no count": empty("are counts", drawing(draws=DrawScheme("independent", a))),
    "a named number of draws": empty("are counts", drawing(draws=DrawScheme("independent", named("K", P)))),
    "an example with 10⁵ digits": empty("too many digits", some("x", example={"x": Fraction(10) ** (10**5)})),
    "a condition with 10⁹ digits": empty("too many digits",
        ClaimSetting(conditions=((number(3) ** 40**1, ">", ((number(3) ** 40) ** 40) ** 40),))),
    "a large exponent in a condition": empty("no small integer",
        ClaimSetting(conditions=((number(2) ** (10**9), ">", ZERO),))),
    "too many parameters": empty("too many parameters", some(*(f"x{i}" for i in range(50)))),
    "too many conditions": empty("too many conditions",
        some("x", conditions=tuple((x, ">", number(Fraction(1, n))) for n in range(2, 40)))),
}  # fmt: skip


class Turning(Mapping[str, Any]):
    """A mapping that gives another answer each time."""

    def __init__(self, *answers: dict[str, Any]):
        self.answers, self.looks = answers, 0

    def _now(self) -> dict[str, Any]:
        self.looks += 1
        return self.answers[min(self.looks, len(self.answers)) - 1]

    def __getitem__(self, name: str) -> Any:
        return self._now()[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._now())

    def __len__(self) -> int:
        return len(self._now())


class Text(str):
    """A text that equals everything."""

    __hash__ = str.__hash__

    def __eq__(self, other: object) -> bool:
        return True


class Endless(dict[str, Any]):
    def items(self) -> Any:
        return ((f"x{n}", "positive") for n in iter(int, 1))


TYPES = {
    "a setting of another class": empty("in the place of a ClaimSetting", {}),
    "a subclass in the place of a text": empty("in the place of a str", unchecked(method=Text("FedDyn"))),
    "a subclass as a parameter's name": empty("in the place of a str",
        unchecked(signs={Text("x"): "positive"}, example={"x": Fraction(1)})),
    "a truth value for another": empty("in the place of a bool", unchecked(minimiser=1)),
    "integers as curvature": empty("in the place of", unchecked(curvature=(0, 1))),
    "a list of curvatures": empty("in the place of a tuple", unchecked(curvature=[ZERO, ONE])),
    "three curvatures": empty("3 entries in the place of 2", unchecked(curvature=(ZERO, ONE, ONE))),
    "a vector as curvature": empty("in the place of", unchecked(curvature=(server(0), None))),
    "a list of conditions": empty("in the place of a tuple", unchecked(conditions=[(ONE, ">", ZERO)])),
    "a condition with two entries": empty("2 entries", unchecked(conditions=((ONE, ">"),))),
    "an unknown relation": empty("no relation", unchecked(conditions=((ONE, "<", ZERO),))),
    "an unknown sign": empty("no sign", unchecked(signs={"x": "negative"}, example={"x": Fraction(-1)})),
    "unknown answers": empty("no way to answer", unchecked(answers="perfect")),
    "an inexactness that is not used": empty("does not fit the answers", unchecked(inexactness=ONE)),
    "no draws": empty("in the place of a DrawScheme", unchecked(draws=None)),
    "an unknown scheme": empty("no way to draw", unchecked(draws=changed(DrawScheme(), scheme="lucky"))),
    "a float in the example": empty("in the place of a Fraction",
        unchecked(signs={"x": "positive"}, example={"x": 1.0})),
    "NaN in the example": empty("in the place of a Fraction",
        unchecked(signs={"x": "positive"}, example={"x": float("nan")})),
    "an integer in the example": empty("in the place of a Fraction",
        unchecked(signs={"x": "positive"}, example={"x": 1})),
    "a list of counts": empty("in the place of a set", unchecked(counts=["x"])),
    "a callable method": empty("in the place of a str", unchecked(method=lambda: None)),
    "signs that are no mapping": empty("AttributeError", unchecked(signs=())),
    "endless signs": empty("more than", unchecked(signs=Endless())),
    "a term with a float": empty("in the place of a term|fraction is (wanted|expected)",
        unchecked(curvature=(None, changed(ONE, args=(1.0,))))),
    "a term with an unknown head": empty("no operation", unchecked(curvature=(None, changed(ONE, head="lambda")))),
    "a term with a list": empty("operands that are no tuple",
        unchecked(curvature=(None, changed(ONE, args=[Fraction(1)])))),
    "a term without operands": empty("number of operands",
        unchecked(curvature=(None, changed(ONE, head="neg", args=())))),
}  # fmt: skip


@parametrised(DOMAINS | TYPES)
def test_a_setting_about_nothing_is_refused(attack) -> None:
    attack.is_refused()


def test_a_setting_that_changes_between_two_looks_is_read_once() -> None:
    """What is proved is about what was read, whatever the object says later."""
    signs = Turning({"x": "positive"}, {"x": "real"})
    made = ClaimSetting(example={"x": Fraction(1)})
    object.__setattr__(made, "signs", signs)
    claim = at_most(0, x)
    found = theorem(made, claim, one_line(claim, ((1, Nonnegative(x)),))) if _holds(made, claim) else None
    assert found is None or (found.setting.signs == {"x": "positive"} and type(found.setting.signs) is dict)


def _holds(setting: ClaimSetting, claim: Any) -> bool:
    try:
        theorem(setting, claim, one_line(claim, ((1, Nonnegative(x)),)))
    except Refused:
        return False
    return True


def test_a_theorem_does_not_change_with_what_was_handed_in() -> None:
    signs = {"x": "positive"}
    made = ClaimSetting(signs=signs, example={"x": Fraction(1)})
    claim = at_most(0, x)
    found = theorem(made, claim, one_line(claim, ((1, Nonnegative(x)),)))
    signs["x"] = "real"
    object.__setattr__(claim, "right", -x)
    assert found.setting.signs == {"x": "positive"}
    assert found.claim == at_most(0, x)


def test_a_term_that_contains_itself_is_refused() -> None:
    loop = -ONE
    object.__setattr__(loop, "args", (loop,))
    refused(unchecked(curvature=(None, loop)), TRUE, one_line(TRUE, POSITIVE), r"RecursionError|more than")


def test_the_example_may_satisfy_conditions_with_roots() -> None:
    two, larger = number(2).sqrt(), Number("max", (number(2).sqrt(), number(2).sqrt()))
    conditions = ((two, ">", ONE), (number(3), ">", larger), (number(4).sqrt(), "=", number(2)), (two**2, ">", ONE),
                  (ONE, ">=", named("h", number(1) / 2)), (-ONE, ">", -two))  # fmt: skip
    assert accepted(ClaimSetting(conditions=conditions), TRUE, POSITIVE)


def test_facts_of_classes_nearby() -> None:
    smooth = some("L", curvature=(ZERO, parameter("L")))
    claim = at_most(value(server(0)), value(server(0)) + inner(family("u"), family("u")))
    assert accepted(smooth, claim, (), ((1, family("u")),))
    up = at_most(value(family("u")), value(server(0)) + inner(gradient(server(0)), family("u") - server(0))
                 + parameter("L") / 2 * square(family("u") - server(0)))  # fmt: skip
    assert accepted(smooth, up, ((1, Upper(family("u"), server(0))),))
