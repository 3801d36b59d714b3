"""Certificates as the engines write them: together they have facts, squares, signs, strict conditions and a draw."""

import json
from pathlib import Path
from typing import Any

import sympy

from fedconvex.proofs_checks.certificates import FORMAT
from fedconvex.proofs_checks.engines.checks import Combination, Inequality
from fedconvex.proofs_checks.engines.facts import Fact, convex, dissimilar, inexact, minimal, smooth
from fedconvex.proofs_checks.engines.hilbert import drawn, family, inner, mean, square, vector
from fedconvex.proofs_checks.engines.signs import Domain
from fedconvex.proofs_checks.proof import Check, Relation

x, y, w = sympy.symbols("x y w", nonnegative=True)
p, K = sympy.Symbol("p", positive=True), sympy.Symbol("K", positive=True, integer=True)
a, b, u = vector("a"), vector("b"), family("u")
f_x, f_y, f_z = sympy.symbols("f_x f_y f_z", real=True)
average = drawn(u, 1 / K)
RICH = Relation(
    2 * inner(a, average) + (x - 2 * y) * square(average), "<=",
    p * square(a) + (x - 2 * y + 1 / p) * square(u) - (1 - w) / (p + w) * square(a) + square(a) * (1 - w) / (p + w),
    Domain((sympy.Ge(x, 2 * y), sympy.Le(w, 1))),
)  # fmt: skip


def certified(claim: Relation, by: Check) -> Any:
    found = by.run(claim).certificate
    assert found is not None
    return json.loads(json.dumps(found))


def rich() -> Any:
    weights = (1 / p, (x - 2 * y + 1 / p) * (1 - 1 / K))
    return certified(RICH, Combination(squares=((weights[0], p * a - average), (weights[1], u - mean(u)))))


def strict() -> Any:
    return certified(Relation(0, "<", 1 / (p - y) + w, Domain((sympy.Gt(p, y),))), Inequality())


def with_facts() -> Any:
    """(1 − w)‖b‖² ≤ (1 − w)p²x where ‖b‖² ≤ p²‖a‖² and x = ‖a‖²."""
    claim = Relation((1 - w) * square(b), "<=", (1 - w) * p**2 * x, Domain((sympy.Le(w, 1),)))
    named = Fact(x - square(a), "the definition of x", equation=True)
    return certified(claim, Combination(facts=((1 - w, inexact(b, a, p)), ((1 - w) * p**2, named))))


def of_values() -> Any:
    """The gap of a gradient step: f(y) − f* from the descent lemma, convexity, and that f* is least."""
    upper, lower, least = smooth(f_y, f_x, a, b, p), convex(f_x, f_z, a, b, w), minimal(f_y, f_z)
    claim = Relation(0, "<=", 2 * upper.expression + lower.expression + (1 + x) * least.expression)
    return certified(claim, Combination(facts=((2, upper), (1, lower), (1 + x, least))))


def of_clients() -> Any:
    claim = Relation(square(u) + square(mean(u)), "<=", (p**2 + 1) * square(mean(u)) + x * square(a))
    return certified(claim, Combination(facts=((1, dissimilar(u, p)),), squares=((x, a),)))


def written_to(path: Path, *certificates: Any) -> Path:
    """As the checker reads them."""
    path.write_text(json.dumps({"format": FORMAT, "step": path.stem, "proof": certificates}), "utf-8")
    return path
