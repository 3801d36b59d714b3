"""Certificates: proofs as JSON data that `standalone_checker.py` checks with nothing but the standard library.

An expression is nested lists: ["+", …], ["*", …], ["^", base, exponent]; a number is an integer or ["/", p, q], and
every string is a symbol. Symbols in ‖·‖ are lengths, ⟨a,b⟩ is an inner product.
"""

from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import sympy

from fedconvex.proofs_checks.engines.hilbert import HilbertVector
from fedconvex.proofs_checks.engines.signs import Domain, NoSignProof, SignProof, prove_sign

if TYPE_CHECKING:
    from fedconvex.proofs_checks.engines.facts import Fact

FORMAT = "fedconvex certificate 2"
CHECKER = Path(__file__).with_name("standalone_checker.py")


def certificate(
    left: Any,
    right: Any,
    relation: str,
    domain: Domain,
    facts: Iterable[tuple[Any, "Fact"]] = (),
    squares: Iterable[tuple[Any, HilbertVector]] = (),
    needed: Iterable[Any] = (),
) -> dict[str, Any] | None:
    """The certificate of right − left = Σ multiplier · fact + Σ weight · ‖vector‖².

    It contains the identity and a proof by coefficients of each sign that it needs: of the expressions in `needed`, of
    the denominators, and, for an inequality without facts and squares, of right − left. None where one of these signs
    was decided by z3, whose answer is no proof that could be written down.
    """
    facts, squares, needed = list(facts), list(squares), list(needed)
    # Signs are needed for the multipliers, for the scales of drawn parts (whose ‖·‖² they multiply), for right − left
    # where nothing else proves the inequality, and for all denominators.
    parts = [(atom, c) for _, vector in squares for atom, c in vector.parts.items()]
    expressions = [left, right, *(e for m, f in facts for e in (m, f.expression)), *(w for w, _ in squares)]
    expressions += [e for atom, c in parts for e in (atom.scale, c)]
    alone = not facts and not squares and relation != "="
    try:
        proofs = [_proof(e, domain) for e in (*needed, *(atom.scale for atom, _ in parts if atom.scale != 1))]
        proofs += [_proof(right - left, domain, relation == "<")] if alone else []
        proofs += [_other_than_0(base, domain) for base in _divisors(expressions)]
    except NotWritten:
        return None
    conditions = list(dict.fromkeys(s.condition for proof in proofs for s in proof.substitutions))
    used = {s for e in (*expressions, *conditions) for s in sympy.sympify(e).free_symbols}
    return {
        "kind": "combination",
        "left": written(left),
        "relation": relation,
        "right": written(right),
        "squared": False,
        "positive": sorted(str(s) for s in used if s.is_positive),
        "nonnegative": sorted(str(s) for s in used if s.is_nonnegative and not s.is_positive),
        "conditions": [_condition(relation) for relation in conditions],
        "facts": [
            {"multiplier": written(m), "fact": written(f.expression), "name": f.name, "equation": f.equation}
            for m, f in facts
        ],
        "squares": [{"weight": written(w), "vector": _vector(v)} for w, v in squares],
        "signs": [_sign(proof, conditions) for proof in dict.fromkeys(proofs)],
    }


class NotWritten(Exception):
    """A sign has no proof by coefficients."""


def _proof(expression: Any, domain: Domain, strictly: bool = False) -> SignProof:
    found = prove_sign(expression, domain, strictly)
    if isinstance(found, NoSignProof) or found.method != "coefficients":
        raise NotWritten
    return found


def _other_than_0(base: Any, domain: Domain) -> SignProof:
    """The proof that an expression is positive on the whole domain, or negative on the whole domain."""
    for expression in (base, -base):
        with suppress(NotWritten):
            return _proof(expression, domain, strictly=True)
    raise NotWritten


def _divisors(expressions: Iterable[Any]) -> list[Any]:
    powers = {power for e in expressions for power in sympy.sympify(e).atoms(sympy.Pow) if power.exp.is_negative}
    return sorted((base for base in {power.base for power in powers} if not base.is_number), key=str)


def _sign(proof: SignProof, conditions: list[Any]) -> dict[str, Any]:
    assert proof.form is not None
    # The form as numerator · denominator⁻¹: the checker sees the coefficients of both.
    below = ["^", written(proof.form.denominator.as_expr()), -1]
    return {
        "expression": written(proof.expression),
        "form": ["*", written(proof.form.numerator.as_expr()), below],
        "strictly": proof.strictly,
        "substitutions": [
            {
                "condition": conditions.index(s.condition),
                "variable": str(s.variable),
                "kind": s.kind,
                "bound": written(s.bound),
                "slack": str(s.slack),
                "factor": written(s.factor),
            }
            for s in proof.substitutions
        ],
    }


def _condition(relation: Any) -> dict[str, Any]:
    """The condition as an expression that is ≥ 0, or > 0 where it is strict."""
    greater = isinstance(relation, sympy.Ge | sympy.Gt)
    difference = relation.lhs - relation.rhs if greater else relation.rhs - relation.lhs
    return {"expression": written(difference), "strict": isinstance(relation, sympy.Gt | sympy.Lt)}


def _vector(vector: HilbertVector) -> list[dict[str, Any]]:
    return [
        {"atom": a.name, "part": a.part.value, "scale": written(a.scale), "draw": a.draw, "coefficient": written(c)}
        for a, c in vector.parts.items()
    ]


def written(expression: Any) -> Any:
    """The expression as nested lists. Raises ValueError for what is no rational function."""
    match sympy.sympify(expression):
        case sympy.Integer() as number:
            return int(number)
        case sympy.Rational() as number:
            return ["/", int(number.p), int(number.q)]
        case sympy.Symbol() as symbol:
            return str(symbol)
        case sympy.Add() | sympy.Mul() as several:
            return ["+" if several.is_Add else "*", *(written(part) for part in several.args)]
        case sympy.Pow() as power if power.exp.is_Integer:
            return ["^", written(power.base), int(power.exp)]
    raise ValueError(f"{expression} is no rational function")
