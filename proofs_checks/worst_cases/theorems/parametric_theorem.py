"""A worst case as a theorem: formulas for the bound and the multipliers, proved for all parameters of a domain."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import sympy

from fedconvex.proofs_checks.engines.algebra import factored, factors, fraction
from fedconvex.proofs_checks.engines.checks import Combination, Inequality
from fedconvex.proofs_checks.engines.signs import Domain, NoSignProof, prove_sign
from fedconvex.proofs_checks.proof import Proof, Relation, Step
from fedconvex.proofs_checks.worst_cases.certificates.proofs import proof
from fedconvex.proofs_checks.worst_cases.questions.question import Question, pose
from fedconvex.proofs_checks.worst_cases.questions.specification import specify
from fedconvex.proofs_checks.worst_cases.theorems.rational_functions import Parameters

Arguments = Callable[..., Mapping[str, Any]]  # from parameters to the arguments of `worst_case`
DEFAULTS: Mapping[str, Any] = {
    "num_clients": "any", "rounds": 1, "metric": "distance", "dissimilarity": None, "heterogeneity": 0,
    "local_solver": None,
}  # fmt: skip


def question_at(arguments: Arguments, values: Mapping[str, Any]) -> Question:
    """The question for these values of the parameters: rational numbers, or `Parametric` ones."""
    return pose(specify(**{**DEFAULTS, **arguments(**values)}))


def theorem(
    arguments: Arguments, sample: Mapping[Any, Any], t: Any, multipliers: Mapping[str, Any], domain: Domain
) -> Proof:
    """metric <= t · N wherever the domain's relations hold, as a proof whose steps remain to be checked.

    Use it where formulas for the bound and the multipliers are known; `discover` finds them. The method's code runs
    with the parameters as symbols, and every comparison that it makes becomes a step of the proof.

    Args:
        arguments: from parameters to the arguments of `worst_case` (see `discover`).
        sample: symbols with values at which comparisons in the code turn out as in the whole domain.
        t: the bound, an expression in the symbols.
        multipliers: expressions by the inequalities' names; the multipliers of others are 0.
        domain: the relations between the symbols.

    Raises:
        ValueError: a multiplier of an unknown inequality, function values that do not cancel, or a form that is no sum
            of squares.
    """
    parameters = Parameters(sample)
    question = question_at(arguments, parameters.numbers)
    unknown = set(multipliers) - {name for name, _ in question.program.inequalities}
    if unknown:
        raise ValueError(f"there are no inequalities {sorted(unknown)}")
    numbers = [parameters.number(multipliers.get(name, 0)) for name, _ in question.program.inequalities]
    combined = proof(question, parameters.number(t), numbers, domain)
    return replace(
        combined, steps=(*(_comparison_step(relation, domain) for relation in parameters.comparisons), *combined.steps)
    )


def needed_signs(proof: Proof, domain: Domain, sample: Mapping[Any, Any]) -> tuple[Any, ...]:
    """Relations between the parameters that the proof needs beyond the domain; they hold at the sample.

    Multipliers and the weights of squares must be nonnegative, and denominators nonzero.
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
    # First the denominators, since signs of quotients are decided with their signs known.
    for above, below in in_factors:
        number = above / below
        if isinstance(prove_sign(number, domain & Domain(tuple(found))), NoSignProof):
            open_part = sympy.Mul(*_open_factors(above, domain))
            found[sympy.Ge(open_part * sympy.sign((number / open_part).subs(sample)), 0)] = None
    return _independent(list(found), domain)


def _independent(relations: list[Any], domain: Domain) -> tuple[Any, ...]:
    """The relations without those that follow from the others."""
    kept = list(relations)
    for relation in relations:
        others = domain & Domain(tuple(other for other in kept if other != relation))
        if not isinstance(prove_sign(relation.lhs, others, isinstance(relation, sympy.Gt)), NoSignProof):
            kept.remove(relation)
    return tuple(kept)


def _open_factors(expression: Any, domain: Domain) -> list[Any]:
    """The irreducible factors that are not proved positive on the domain."""
    return [
        f
        for f in factors(fraction(expression).numerator)
        if isinstance(prove_sign(f, domain, strictly=True), NoSignProof)
    ]


def _comparison_step(relation: Any, domain: Domain) -> Step:
    """The step that a comparison in the code turns out the same way in the whole domain."""
    strict = "<" if isinstance(relation, sympy.Gt | sympy.Lt) else "<="
    claim = Relation(relation.lts, strict, relation.gts, domain)
    return Step(sympy.latex(relation), "decided alike for all parameters", claim, Inequality())
