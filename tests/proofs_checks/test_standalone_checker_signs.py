"""Whatever the standalone checker accepts, tampered or not, is true at every point, the boundary included."""

import json
import random
import re
from collections.abc import Iterator
from copy import deepcopy
from fractions import Fraction
from functools import cache
from math import isqrt
from typing import Any

from engine_certificates import of_clients, of_values, rich, strict, with_facts
from hypothesis import given, settings
from hypothesis import strategies as st
from small_certificates import (
    DECEPTIONS,
    HIDDEN_X,
    above_1,
    at,
    at_least,
    defined,
    divisors,
    has_sign,
    holds,
    minus,
    over,
    proof,
    put,
    sign,
)

from fedconvex.proofs_checks.standalone_checker import written

BORDER = {"p": (Fraction(1, 3), Fraction(2)), "x": (Fraction(0), Fraction(1, 2), Fraction(3)),
          "y": (Fraction(0), Fraction(1), Fraction(5, 2))}  # fmt: skip
POINTS = [{"p": p, "x": x, "y": y} for p in BORDER["p"] for x in BORDER["x"] for y in BORDER["y"]]
POSITIVE_FORMS = st.recursive(
    st.sampled_from([1, 2, "p", "x", "y"]),
    lambda parts: st.one_of(
        st.builds(lambda op, several: [op, *several], st.sampled_from("+*"), st.lists(parts, min_size=2, max_size=3)),
        st.builds(lambda base, n: ["^", base, n], parts, st.sampled_from([-1, -1, 2])),
    ),
    max_leaves=6,
)


def reduced(form: Any) -> Any:
    """The same function without the divisors that cancel."""
    import sympy

    from fedconvex.proofs_checks.certificates import written as listed

    return listed(sympy.cancel(sympy.sympify(written(form).replace("^", "**"))))


@given(form=POSITIVE_FORMS, cancelled=st.booleans(), strictly=st.booleans())
def test_signs_that_are_accepted_are_right(form, cancelled, strictly) -> None:
    right = reduced(form) if cancelled else form
    inside = [sign(d, d, strictly=True) for d in divisors(right)]
    found = proof(right=right, relation="<" if strictly else "<=", positive=["p"], nonnegative=["x", "y"],
                  signs=[sign(right, form, strictly=strictly), *inside])  # fmt: skip
    for signs in (found["signs"], found["signs"][:1]):
        if holds(found | {"signs": signs}):
            values = [at(right, point) for point in POINTS]  # nothing is divided by 0
            assert min(values) > 0 if strictly else min(values) >= 0


@given(factor=POSITIVE_FORMS, cancelled=st.booleans(), strict=st.booleans())
def test_bounds_that_are_accepted_are_right(factor, cancelled, strict) -> None:
    """factor · (z − 1) >= 0 says that z >= 1 only where the factor is not 0."""
    condition = ["*", reduced(factor) if cancelled else factor, minus("z", 1)]
    found = proof(left=1, right="z", relation="<" if strict else "<=", positive=["p"], nonnegative=["x", "y"],
                  conditions=[at_least(condition, strict)],
                  signs=[sign(minus("z", 1), "t", put("z", 1, "t", factor), strictly=strict)])  # fmt: skip
    if holds(found):
        for point in POINTS:
            for z in (0, Fraction(1, 2), 1):
                if defined(condition, point | {"z": z}) and has_sign(at(condition, point | {"z": z}), strict):
                    assert has_sign(Fraction(z - 1), strict)


def test_the_signs_above_are_accepted_at_times() -> None:
    for e, strictly in ((["+", "p", "x"], True), (["*", "x", over(["+", "p", "y"])], False)):
        relation = "<" if strictly else "<="
        assert holds(proof(right=e, relation=relation, positive=["p"], nonnegative=["x", "y"]))
    assert holds(above_1(["+", "p", "x"], ["+", "p", "x"], positive=["p"], nonnegative=["x", "y"]))


# ---- certificates, tampered with: refused, or still true at every point where what is printed as granted holds


@cache
def real() -> tuple[Any, ...]:
    return (rich(), strict(), with_facts(), of_values(), of_clients(), *(true for _, true in DECEPTIONS.values()))


def symbols(e: Any) -> set[str]:
    return {e} if isinstance(e, str) else set().union(*map(symbols, e[1:])) if isinstance(e, list) else set()


LENGTH, PRODUCT = re.compile("‖([^‖⟨⟩,]+)‖"), re.compile("⟨([^‖⟨⟩,]+),([^‖⟨⟩,]+)⟩")
PLANE = [(3, 4), (4, -3), (5, 0), (0, 0), (-5, 12), (1, 0)]  # their lengths are rational


def some_point(found: Any, choice: random.Random) -> dict[str, Fraction]:
    """Numbers for the symbols: lengths and products of vectors, signs as they are granted, definitions fulfilled."""
    expressions = [found["left"], found["right"], *(c["expression"] for c in found["conditions"])]
    expressions += [e for f in found["facts"] for e in (f["multiplier"], f["fact"])]
    names = set().union(*map(symbols, expressions), found["positive"], found["nonnegative"])
    vectors: dict[str, Any] = {}

    def vector(name: str) -> tuple[Fraction, Fraction]:
        scale = Fraction(choice.choice((1, 1, 2, 1)), choice.choice((1, 3, 5)))
        a, b = choice.choice(PLANE)
        return vectors.setdefault(name, (a * scale, b * scale))

    point = {}
    for name in sorted(names):
        if match := LENGTH.fullmatch(name):
            a, b = vector(match[1])
            square = a * a + b * b
            point[name] = Fraction(isqrt(square.numerator), isqrt(square.denominator))
        elif match := PRODUCT.fullmatch(name):
            a, b = vector(match[1]), vector(match[2])
            point[name] = a[0] * b[0] + a[1] * b[1]
        elif name in found["positive"]:
            point[name] = Fraction(choice.choice((1, 1, 2, 5)), choice.choice((1, 1, 3, 7)))
        elif name in found["nonnegative"]:
            point[name] = Fraction(choice.choice((0, 0, 1, 2, 5)), choice.choice((1, 1, 3)))
        else:
            point[name] = Fraction(choice.choice((-3, -1, 0, 1, 2)), choice.choice((1, 2)))
    for f in found["facts"]:
        free = [s for s in sorted(symbols(f["fact"])) if not (LENGTH.fullmatch(s) or PRODUCT.fullmatch(s))]
        for s in free if f["equation"] else ():
            try:
                values = [at(f["fact"], point | {s: Fraction(n)}) for n in (0, 1, 2)]
            except ZeroDivisionError:
                continue
            if values[2] - values[1] == values[1] - values[0] != 0:
                point[s] = values[0] / (values[0] - values[1])
                break
    return point


def is_granted(found: Any, point: Any) -> bool:
    """Whether all that is granted holds at the point. Raises ZeroDivisionError where a condition is not defined."""
    signs = all(point[s] > 0 for s in found["positive"]) and all(point[s] >= 0 for s in found["nonnegative"])
    signs = signs and all(has_sign(at(c["expression"], point), c["strict"]) for c in found["conditions"])
    return signs and all(
        at(f["fact"], point) == 0 if f["equation"] else at(f["fact"], point) >= 0 for f in found["facts"]
    )


def fails_somewhere(found: Any, seed: int, points: int = 60) -> Any:
    """A point where all that is granted holds, and the claim does not."""
    choice = random.Random(seed)
    for _ in range(points):
        point = some_point(found, choice)
        try:
            inside = is_granted(found, point)
        except ZeroDivisionError:
            continue
        if inside:
            left, right = at(found["left"], point), at(found["right"], point)
            if not {"=": left == right, "<=": left <= right, "<": left < right}[found["relation"]]:
                return point
    return None


def test_points_are_found_that_refute() -> None:
    """The search that the next test relies on."""
    for name in ("sides to the power of 0", "a quotient that is 0 at the border", "a factor that is 0 at the border",
                 "a slack that is a number", "an equation from a square", "a weight of -1"):  # fmt: skip
        false, true = DECEPTIONS[name]
        assert fails_somewhere(false, seed=1) is not None, name
        assert fails_somewhere(true, seed=1) is None
    checked = sum(any(is_granted_safely(c, some_point(c, random.Random(n))) for n in range(60)) for c in real())
    assert checked >= len(real()) / 2


def is_granted_safely(found: Any, point: Any) -> bool:
    try:
        return is_granted(found, point)
    except ZeroDivisionError:
        return False


def places(e: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    for key in e if isinstance(e, dict) else range(len(e)) if isinstance(e, list) else ():
        yield (*path, key)
        yield from places(e[key], (*path, key))


def inside_of(e: Any, path: Any) -> Any:
    for key in path:
        e = e[key]
    return e


@st.composite
def tampered(draw: Any) -> Any:
    found = deepcopy(draw(st.sampled_from(real())))
    for _ in range(draw(st.integers(1, 3))):
        all_places = list(places(found))
        *before, key = draw(st.sampled_from(all_places))
        inside, other = (inside_of(found, path) for path in (before, draw(st.sampled_from(all_places))))
        old = inside[key]
        changes = [-1, 0, 1, 2, True, False, None, 0.5, "x", "t", "<", "<=", "=", [], deepcopy(other)]
        changes += [["*", -1, old], ["^", old, -1], ["^", old, 2], ["+", old, 1], ["*", old, deepcopy(HIDDEN_X)]]
        how = draw(st.integers(0, len(changes) + 2))
        if how < len(changes):
            inside[key] = changes[how]
        elif how == len(changes):
            del inside[key]
        elif how == len(changes) + 1 and isinstance(inside, list):
            inside.append(deepcopy(old))
        else:  # a symbol takes another's name
            names = sorted({"x", *(e for path in all_places if isinstance(e := inside_of(found, path), str))})
            one, another = (json.dumps(draw(st.sampled_from(names))) for _ in range(2))
            found = json.loads(json.dumps(found).replace(one, another))
    return found


@settings(max_examples=300)
@given(found=tampered(), seed=st.integers(0, 1000))
def test_a_tampered_certificate_is_refused_or_still_true(found, seed) -> None:
    if holds(found):
        assert fails_somewhere(found, seed) is None
