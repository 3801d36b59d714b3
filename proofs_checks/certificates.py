"""What was proved, written so that anyone can check it again: `standalone_checker.py` needs only the standard library.

An expression is nested lists: ["+", …], ["*", …], ["^", base, exponent]; a number is a string such as "-3/2", and
every other string is a symbol. Symbols in ‖·‖ are lengths, ⟨a,b⟩ is an inner product.
"""

import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from shutil import copyfile
from typing import TYPE_CHECKING, Any

import sympy

from fedconvex.verdicts import Verdict
from fedconvex.writing import write_atomically

if TYPE_CHECKING:
    from fedconvex.proofs_checks.engines.facts import Fact
    from fedconvex.proofs_checks.engines.signs import SignProof
    from fedconvex.proofs_checks.verification import Result

FORMAT = "fedconvex certificate 1"
CHECKER = Path(__file__).with_name("standalone_checker.py")


def certificate(
    left: Any,
    right: Any,
    relation: str,
    facts: Iterable[tuple[Any, "Fact"]],
    squares: Iterable[tuple[Any, Any]],
    signs: Iterable["SignProof"],
) -> dict[str, Any] | None:
    """right − left = Σ multiplier · fact + Σ weight · square, and why these are not negative.

    None where z3 has decided a sign: there is nothing to write down then.
    """
    proofs = list(signs)
    if any(proof.method != "coefficients" for proof in proofs):
        return None
    return {
        "kind": "combination",
        "difference": written(right - left),
        "relation": relation,
        "facts": [
            {"multiplier": written(m), "fact": written(f.expression), "name": f.name, "equation": f.equation}
            for m, f in facts
        ],
        "squares": [{"weight": written(w), "square": written(s)} for w, s in squares],
        "signs": [_sign(proof) for proof in proofs],
    }


def _sign(proof: "SignProof") -> dict[str, Any]:
    return {
        "expression": written(proof.expression),
        "form": _form(proof),
        "strictly": proof.strictly,
        "substitutions": [
            {
                "condition": _not_negative(s.condition),
                "variable": str(s.variable),
                "kind": s.kind,
                "bound": written(s.bound),
                "slack": str(s.slack),
                "factor": written(s.factor),
            }
            for s in proof.substitutions
        ],
    }


def _form(proof: "SignProof") -> Any:
    assert proof.form is not None
    return ["*", written(proof.form.numerator.as_expr()), ["^", written(proof.form.denominator.as_expr()), -1]]


def _not_negative(relation: Any) -> Any:
    """What the condition says is not negative."""
    greater = isinstance(relation, sympy.Ge | sympy.Gt)
    return written(relation.lhs - relation.rhs if greater else relation.rhs - relation.lhs)


def written(expression: Any) -> Any:
    """The expression as nested lists. Raises ValueError for what is no rational function."""
    match expression:
        case sympy.Rational():
            return str(expression)
        case sympy.Symbol():
            return str(expression)
        case sympy.Add() | sympy.Mul():
            return ["+" if expression.is_Add else "*", *(written(part) for part in expression.args)]
        case sympy.Pow() if expression.exp.is_Integer:
            return ["^", written(expression.base), int(expression.exp)]
    raise ValueError(f"{expression} is no rational function")


def certificates_of(result: "Result") -> Iterator[tuple[str, dict[str, Any]]]:
    """The certificates of a result's proved steps, each with a name."""
    for number, found in enumerate(result.evidence, start=1):
        if found.outcome.certificate is not None and found.outcome.verdict is Verdict.PROVED:
            yield f"{result.statement.identifier}-{number:02d}", found.outcome.certificate


def write_certificates(folder: Path, found: dict[str, dict[str, Any]]) -> list[Path]:
    """One JSON file for every step, by its name, and the checker beside them."""
    folder.mkdir(parents=True, exist_ok=True)
    paths = []
    for name, content in found.items():
        path = folder / f"{name}.json"
        text = json.dumps({"format": FORMAT, "step": name, "proof": content}, ensure_ascii=False, indent=1)
        write_atomically(path, text.encode())
        paths.append(path)
    copyfile(CHECKER, folder / CHECKER.name)
    return paths
