"""Checks certificates again, with nothing but the standard library: python standalone_checker.py FILE.json …

A certificate says: difference = Σ multiplier · fact + Σ weight · square, an identity of rational functions. The facts
are inequalities (or equations) that the reader accepts, each with its name. So the difference is not negative if the
multipliers and weights are not; and each of these becomes a quotient of polynomials without negative coefficients when
its variables, none of which is negative, are written as their bound plus (or divided by one plus) a slack.
"""

import json
import sys
from fractions import Fraction

# A polynomial maps {(symbol, power), …} to its coefficient; a rational function is (numerator, denominator).


def add(p, q):
    total = dict(p)
    for monomial, c in q.items():
        total[monomial] = total.get(monomial, 0) + c
    return {m: c for m, c in total.items() if c}


def multiply(p, q):
    total = {}
    for m, c in p.items():
        for n, d in q.items():
            powers = dict(m)
            for symbol, power in n:
                powers[symbol] = powers.get(symbol, 0) + power
            key = frozenset(powers.items())
            total[key] = total.get(key, 0) + c * d
    return {m: c for m, c in total.items() if c}


ONE = {frozenset(): Fraction(1)}


def plus(a, b):
    if a[1] == b[1]:
        return add(a[0], b[0]), a[1]
    return add(multiply(a[0], b[1]), multiply(b[0], a[1])), multiply(a[1], b[1])


def times(a, b):
    return multiply(a[0], b[0]), multiply(a[1], b[1])


def power(a, n):
    if n < 0:
        assert a[0], "division by zero"
        return power((a[1], a[0]), -n)
    result = (ONE, ONE)
    for _ in range(n):
        result = times(result, a)
    return result


def value(expression, substitution=None):
    """The expression as a rational function; symbols in `substitution` are replaced."""
    substitution = substitution or {}
    if isinstance(expression, str):
        if expression.lstrip("-")[:1].isdigit():
            number = Fraction(expression)
            return ({frozenset(): number} if number else {}), ONE
        if expression in substitution:
            return substitution[expression]
        return {frozenset({(expression, 1)}): Fraction(1)}, ONE
    head, *parts = expression
    if head == "^":
        return power(value(parts[0], substitution), parts[1])
    assert head in ("+", "*"), f"unknown operation {head}"
    result = ({}, ONE) if head == "+" else (ONE, ONE)
    for part in parts:
        result = (plus if head == "+" else times)(result, value(part, substitution))
    return result


def minus(a, b):
    return plus(a, times(({frozenset(): Fraction(-1)}, ONE), b))


def has_no_negative_coefficients(a):
    signs = {c > 0 for part in a for c in part.values()}
    return len(signs) <= 1


def check_sign(sign):
    """Why an expression is not negative."""
    substitution = {}
    for step in sign["substitutions"]:
        variable, bound = value(step["variable"]), value(step["bound"])
        room = minus(variable, bound) if step["kind"] == "lower" else minus(bound, variable)
        factor = value(step["factor"])
        left = value(step["condition"], substitution)
        assert not minus(left, times(factor, room))[0], "the condition is not the bound"
        assert has_no_negative_coefficients(factor), "the factor may be negative"
        assert has_no_negative_coefficients(bound), "the bound may be negative"
        slack = value(step["slack"])
        assert step["slack"] not in json.dumps(step["condition"]), "the slack is no new variable"
        new = plus(bound, slack) if step["kind"] == "lower" else times(bound, power(plus((ONE, ONE), slack), -1))
        put_in = {step["variable"]: new}
        substitution = {name: _again(old, put_in) for name, old in substitution.items()} | put_in
    form = value(sign["form"])
    assert not minus(value(sign["expression"], substitution), form)[0], "the form is not the expression"
    assert has_no_negative_coefficients(form), "an expression may be negative"


def _again(old, put_in):
    """A rational function with a variable replaced."""
    return times(_polynomial(old[0], put_in), power(_polynomial(old[1], put_in), -1))


def _polynomial(p, put_in):
    total = ({}, ONE)
    for monomial, c in p.items():
        term = ({frozenset(): c}, ONE)
        for symbol, n in monomial:
            term = times(term, power(put_in.get(symbol) or value(symbol), n))
        total = plus(total, term)
    return total


def check(proof):
    """Raises AssertionError where the proof is none."""
    if proof["kind"] == "all":
        for part in proof["of"]:
            check(part)
        return
    rest = value(proof["difference"])
    for term in proof["facts"]:
        rest = minus(rest, times(value(term["multiplier"]), value(term["fact"])))
    for term in proof["squares"]:
        rest = minus(rest, times(value(term["weight"]), value(term["square"])))
    shown = [sign["expression"] for sign in proof["signs"]]
    if proof["relation"] == "=":
        assert not rest[0] and not proof["squares"], "the two sides differ"
        assert all(term["equation"] for term in proof["facts"]), "an inequality gives no equation"
        return
    if not proof["facts"] and not proof["squares"]:
        assert proof["difference"] in shown, "the difference has no sign"
    else:
        assert not rest[0], "the two sides differ"
    needed = [t["multiplier"] for t in proof["facts"] if not t["equation"]] + [t["weight"] for t in proof["squares"]]
    assert all(expression in shown for expression in needed), "a multiplier has no sign"
    for sign in proof["signs"]:
        check_sign(sign)


if __name__ == "__main__":
    for path in sys.argv[1:]:
        with open(path, encoding="utf-8") as file:
            content = json.load(file)
        check(content["proof"])
        print(f"{content['step']}: holds")
