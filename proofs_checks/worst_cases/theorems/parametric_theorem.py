"""A worst case as a theorem: formulas for the bound and the multipliers, proved for all parameters in a domain."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import sympy

from fedconvex.proofs_checks.engines.algebra import factored, factors, fraction
from fedconvex.proofs_checks.engines.checks import Combination, Inequality
from fedconvex.proofs_checks.engines.signs import Domain, NoSignProof, prove_sign
from fedconvex.proofs_checks.proof import Proof, Relation, Step
from fedconvex.proofs_checks.worst_cases.certificates.proofs import proof
from fedconvex.proofs_checks.worst_cases.questions.question import Question, asked
from fedconvex.proofs_checks.worst_cases.theorems.rational_functions import Parameters

Ask = Callable[..., Mapping[str, Any]]
DEFAULTS: Mapping[str, Any] = {
    "num_clients": "any", "rounds": 1, "metric": "distance", "dissimilarity": None, "heterogeneity": 0,
    "local_solver": None,
}  # fmt: skip


def question_of(ask: Ask, values: Mapping[str, Any]) -> Question:
    """What is asked for these values of the parameters: numbers, or parametric ones."""
    return asked(**{**DEFAULTS, **ask(**values)})


def theorem(ask: Ask, sample: Mapping[Any, Any], t: Any, multipliers: Mapping[str, Any], domain: Domain) -> Proof:
    """metric <= t · N wherever the domain's relations hold, as a proof whose steps remain to be checked.

    The method's code is played with the parameters as symbols, and what it compares on the way becomes steps.

    Args:
        ask: from parameters to `worst_case`'s arguments (see `discover`).
        sample: symbols and values, at which the code's comparisons turn out as they do in the whole domain.
        t, multipliers: expressions in the symbols; those of inequalities that are not named are 0.
    """
    parameters = Parameters(sample)
    question = question_of(ask, parameters.numbers)
    unknown = set(multipliers) - {name for name, _ in question.program.inequalities}
    if unknown:
        raise ValueError(f"there are no inequalities {sorted(unknown)}")
    numbers = [parameters.number(multipliers.get(name, 0)) for name, _ in question.program.inequalities]
    combined = proof(question, parameters.number(t), numbers, domain)
    return replace(combined, steps=(*(_alike(relation, domain) for relation in parameters.noted), *combined.steps))


def needed_signs(proof: Proof, domain: Domain, sample: Mapping[Any, Any]) -> tuple[Any, ...]:
    """What the proof needs beyond the domain: relations between the parameters, which hold at the sample.

    Multipliers and weights must not be negative, and their denominators, which are in the factors, not 0.
    """
    numbers: list[Any] = []
    divisors: list[Any] = []
    found: dict[Any, None] = {}
    for step in proof.steps:
        if isinstance(step.by, Combination):
            numbers += [m for m, fact in step.by.facts if not fact.equation] + [w for w, _ in step.by.squares]
            parts = [fact.expression for _, fact in step.by.facts]
            parts += [c for _, vector in step.by.squares for c in vector.parts.values()]
            divisors += [sympy.fraction(sympy.together(part))[1] for part in parts]
        else:
            numbers.append(step.claim.right - step.claim.left)
    in_factors = [sympy.fraction(factored(number)) for number in dict.fromkeys(numbers)]
    for divisor in dict.fromkeys((*divisors, *(below for _, below in in_factors))):
        for factor in _open_factors(divisor, domain):
            found[sympy.Gt(factor if factor.subs(sample) > 0 else -factor, 0)] = None
    for above, below in in_factors:
        number = above / below
        if isinstance(prove_sign(number, domain & Domain(tuple(found))), NoSignProof):
            open_part = sympy.Mul(*_open_factors(above, domain))
            found[sympy.Ge(open_part * sympy.sign((number / open_part).subs(sample)), 0)] = None
    return _independent(list(found), domain)


def _independent(relations: list[Any], domain: Domain) -> tuple[Any, ...]:
    """Without those that follow from the others."""
    kept = list(relations)
    for relation in relations:
        others = domain & Domain(tuple(other for other in kept if other != relation))
        if not isinstance(prove_sign(relation.lhs, others, isinstance(relation, sympy.Gt)), NoSignProof):
            kept.remove(relation)
    return tuple(kept)


def _open_factors(expression: Any, domain: Domain) -> list[Any]:
    """The irreducible factors of which it is not known that they are positive."""
    return [
        f
        for f in factors(fraction(expression).numerator)
        if isinstance(prove_sign(f, domain, strictly=True), NoSignProof)
    ]


def _alike(relation: Any, domain: Domain) -> Step:
    """That a comparison in the method's code, or of its arguments, turns out the same way in the whole domain."""
    strict = "<" if isinstance(relation, sympy.Gt | sympy.Lt) else "<="
    claim = Relation(relation.lts, strict, relation.gts, domain)
    return Step(sympy.latex(relation), "decided alike for all parameters", claim, Inequality())
