"""Small certificates, valid and forged, and the values of their expressions at a point."""

from collections.abc import Iterator
from fractions import Fraction
from itertools import chain
from typing import Any

from fedconvex.proofs_checks.standalone_checker import check


def proof(**given: Any) -> dict[str, Any]:
    """0 <= 0, with what is given instead."""
    return {
        "kind": "combination", "left": 0, "relation": "<=", "right": 0, "squared": False, "positive": [],
        "nonnegative": [], "conditions": [], "facts": [], "squares": [], "signs": [],
    } | given  # fmt: skip


def sign(expression: Any, form: Any, *substitutions: Any, strictly: bool = False) -> dict[str, Any]:
    return {"expression": expression, "form": form, "strictly": strictly, "substitutions": [*substitutions]}


def put(variable: Any, bound: Any, slack: Any, factor: Any = 1, kind: str = "lower", condition: Any = 0) -> Any:
    return {
        "condition": condition, "variable": variable, "kind": kind, "bound": bound, "slack": slack, "factor": factor,
    }  # fmt: skip


def at_least(e: Any, strict: bool = False) -> dict[str, Any]:
    return {"expression": e, "strict": strict}


def fact(e: Any, multiplier: Any = 1, **given: Any) -> dict[str, Any]:
    return {"multiplier": multiplier, "fact": e, "name": "it is known", "equation": False} | given


def component(atom: str, coefficient: Any = 1, **given: Any) -> dict[str, Any]:
    return {"atom": atom, "part": "", "scale": 1, "draw": "", "coefficient": coefficient} | given


def minus(e: Any, f: Any) -> Any:
    return ["+", e, ["*", -1, f]]


def over(e: Any) -> Any:
    return ["^", e, -1]


def holds(found: Any) -> bool:
    try:
        check(found)
    except Exception:  # whatever the checker stumbles upon is refused
        return False
    return True


def at(e: Any, point: Any) -> Fraction:
    """The value at a point, by the definition."""
    match e:
        case str():
            return Fraction(point[e])
        case int():
            return Fraction(e)
        case ["/", p, q]:
            return Fraction(p, q)
        case ["^", base, n]:
            return at(base, point) ** n
        case ["+", *parts]:
            return sum((at(part, point) for part in parts), Fraction(0))
        case ["*", *parts]:
            product = Fraction(1)
            for part in parts:
                product *= at(part, point)
            return product
    raise AssertionError(e)


def divisors(e: Any) -> Iterator[Any]:
    if isinstance(e, list):
        yield from chain.from_iterable(divisors(part) for part in e[1:])
        if e[0] == "^" and e[2] < 0:
            yield e[1]


def defined(e: Any, point: Any) -> bool:
    try:
        at(e, point)
    except ZeroDivisionError:
        return False
    return True


def has_sign(number: Fraction, strict: bool) -> bool:
    return number > 0 if strict else number >= 0


# ---- what deceives, each beside what is honest and differs in little

HIDDEN_X = ["*", ["+", 1, "x"], over(["+", over("x"), 1])]  # it is x, written as a quotient of positive numbers
TWICE_INVERTED = over(over(["+", "x", "y"]))
SHADOW = {"positive": ["x", "t"], "conditions": [at_least(minus("x", 1))]}


def about_x(form: Any, symbol_is: str) -> dict[str, Any]:
    return proof(**{symbol_is: ["x"]}, right="x", relation="<", signs=[sign("x", form, strictly=True)])


def above_1(factor: Any, known: Any = "x", **signs: Any) -> dict[str, Any]:
    """1 <= y, as known · (y − 1) >= 0, and the factor is the same function as what is known."""
    one = sign(minus("y", 1), "t", put("y", 1, "t", factor))
    return proof(left=1, right="y", conditions=[at_least(["*", known, minus("y", 1)])], signs=[one], **signs)


def beyond(slack: Any, **given: Any) -> dict[str, Any]:
    """1 < x or 1 <= x, as x is 1 + slack."""
    strictly = given.get("relation") == "<"
    return proof(**{"left": 1, "right": "x", "conditions": [at_least(minus("x", 1))],
                    "signs": [sign(minus("x", 1), slack, put("x", 1, slack), strictly=strictly)]} | given)  # fmt: skip


DECEPTIONS = {
    "sides to the power of 0": (proof(left=1, squared=-1), proof(left=-1)),
    "a square that is no yes or no": (proof(left=1, squared=0), proof(left=1, right=1, squared=False)),
    "1 as yes": (proof(left=1, right=1, squared=1), proof(left=1, right=1, squared=True)),
    "a quotient that is 0 at the border": (about_x(HIDDEN_X, "nonnegative"), about_x(HIDDEN_X, "positive")),
    "the inverse of an inverse": (
        proof(right=["+", "x", "y"], relation="<", nonnegative=["x", "y"],
              signs=[sign(["+", "x", "y"], TWICE_INVERTED, strictly=True)]),
        proof(right=["+", "x", "y"], nonnegative=["x", "y"], signs=[sign(["+", "x", "y"], TWICE_INVERTED)]),
    ),
    "a divisor that is 0 at the border": (
        proof(left=["*", "x", over("x")], right=1, nonnegative=["x"], signs=[sign("x", HIDDEN_X, strictly=True)]),
        proof(left=["*", "x", over("x")], right=1, positive=["x"], signs=[sign("x", HIDDEN_X, strictly=True)]),
    ),
    "a divisor inside a form": (
        about_x(["*", "x", "x", over("x")], "nonnegative"), about_x(["*", "x", "x", over("x")], "positive"),
    ),
    "a factor that is 0 at the border": (
        above_1(HIDDEN_X, nonnegative=["x", "y"]), above_1(HIDDEN_X, positive=["x"], nonnegative=["y"]),
    ),
    "a slack that is known to be positive": (
        beyond("t", relation="<", **SHADOW), beyond("t", **SHADOW | {"positive": ["x"]}),
    ),
    "a slack that is known not to be negative": (beyond("t", nonnegative=["t"]), beyond("t")),
    "a slack that is a number": (
        proof(left=6, right="x", conditions=[at_least(minus("x", 1))], signs=[
            sign(minus("x", 6), 0, put("x", 1, 5))]),
        proof(left=6, right="x", conditions=[at_least(minus("x", 6))], signs=[
            sign(minus("x", 6), "t", put("x", 6, "t"))]),
    ),
    "a slack in its own bound": (
        proof(right="x", nonnegative=["x"], conditions=[at_least("x")],
              signs=[sign("x", "t", put("x", minus("t", "t"), "t"))]),
        proof(right="x", nonnegative=["x"], conditions=[at_least("x")], signs=[sign("x", "t", put("x", 0, "t"))]),
    ),
    "a slack in its own factor": (
        beyond("t", signs=[sign(minus("x", 1), "t", put("x", 1, "t", ["*", "t", over("t")]))]), beyond("t"),
    ),
    "a slack that is its variable": (beyond("x"), beyond("t")),
    "a variable in its own bound": (
        proof(right="x", conditions=[at_least(1)], nonnegative=["x"],
              signs=[sign("x", ["+", "x", "t", -1], put("x", minus("x", 1), "t"))]),
        proof(right="x", nonnegative=["x"]),
    ),
    "a variable that is a number": (beyond("t", signs=[sign(minus("x", 1), "t", put(0, 0, "t"))]), beyond("t")),
    "a condition from the end": (
        beyond("t", signs=[sign(minus("x", 1), "t", put("x", 1, "t", condition=-1))]), beyond("t"),
    ),
    "another kind of substitution": (
        beyond("t", signs=[sign(minus("x", 1), "t", put("x", 1, "t", kind="between"))]), beyond("t"),
    ),
    "a strict condition as text": (
        beyond("t", relation="<", conditions=[at_least(minus("x", 1), "no")]),
        beyond("t", relation="<", conditions=[at_least(minus("x", 1), True)]),
    ),
    "strictly, as a number": (
        proof(right="x", relation="<", nonnegative=["x"], signs=[sign("x", "x", strictly=2)]),
        proof(right="x", relation="<", positive=["x"], signs=[sign("x", "x", strictly=True)]),
    ),
    "an equation as a number": (
        proof(left=1, facts=[fact(1, -1, equation=1)]), proof(left=1, facts=[fact(1, -1, equation=True)]),
    ),
    "an inequality times -1": (proof(left=1, facts=[fact(1, -1)]), proof(left=-1, facts=[fact(1)])),
    "a weight of -1": (
        proof(left=["^", "‖a‖", 2], squares=[{"weight": -1, "vector": [component("a")]}]),
        proof(left=["*", -1, ["^", "‖a‖", 2]], squares=[{"weight": 1, "vector": [component("a")]}]),
    ),
    "an unknown relation": (proof(relation=">="), proof(relation="=")),
    "a relation in a list": (proof(relation=["<="]), proof()),
    "nothing is less than itself": (proof(relation="<"), proof(right=1, relation="<")),
    "an equation from a square": (
        proof(left=["*", -1, ["^", "‖a‖", 2]], squares=[{"weight": 1, "vector": [component("a")]}], relation="="),
        proof(left=["*", -1, ["^", "‖a‖", 2]], squares=[{"weight": 1, "vector": [component("a")]}]),
    ),
    "an equation from its square": (
        proof(left="x", right=["*", -1, "x"], relation="=", squared=True), proof(left="x", right="x", relation="="),
    ),
    "a fact that is divided by 0": (
        proof(left=1, facts=[fact(["*", -1, "x", over("x")])], nonnegative=["x"]),
        proof(left=1, facts=[fact(["*", -1, "x", over("x")])], positive=["x"]),
    ),
    "a multiplier 0/0": (proof(facts=[fact(0, ["*", 0, over("x")])]), proof(facts=[fact(0, 0)])),
    "an atom with a comma": (
        proof(left=["*", 2, "⟨a,b,c⟩"], right=["+", ["^", "‖a,b‖", 2], ["^", "‖c‖", 2]],
              squares=[{"weight": 1, "vector": [component("a,b"), component("c", -1)]}]),
        proof(left=["*", 2, "⟨a,c⟩"], right=["+", ["^", "‖a‖", 2], ["^", "‖c‖", 2]],
              squares=[{"weight": 1, "vector": [component("a"), component("c", -1)]}]),
    ),
    "an atom that looks like a deviation": (
        proof(left=["*", -1, ["^", "‖a~‖", 2]], squares=[{"weight": 1, "vector": [component("a~")]}]),
        proof(left=["*", -1, ["^", "‖a~‖", 2]], squares=[{"weight": 1, "vector": [component("a", part="~")]}]),
    ),
    "a part of an unknown kind": (
        proof(squares=[{"weight": 0, "vector": [component("a", part="?")]}]),
        proof(squares=[{"weight": 0, "vector": [component("a", part="*")]}]),
    ),
    "a scale of what is not drawn": (
        proof(squares=[{"weight": 0, "vector": [component("a", scale=2)]}]),
        proof(squares=[{"weight": 0, "vector": [component("a", part="*", scale=2)]}]),
    ),
    "a draw of what is not drawn": (
        proof(squares=[{"weight": 0, "vector": [component("a", draw="now")]}]),
        proof(squares=[{"weight": 0, "vector": [component("a", part="*", draw="now")]}]),
    ),
}  # fmt: skip
