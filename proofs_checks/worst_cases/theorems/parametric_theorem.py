"""A worst case as a theorem: formulas for the bound and the multipliers, for all parameters of a domain."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, final

import sympy

from fedconvex.proofs_checks.kernel.scalars import Scalar
from fedconvex.proofs_checks.library.lemmas import Lemma
from fedconvex.proofs_checks.search.scalars import factors, moved
from fedconvex.proofs_checks.worst_cases.certificates.lemmas import Combination, Domain
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


def theorem(arguments: Arguments, sample: Mapping[Any, Any], t: Any, multipliers: Mapping[str, Any]) -> "Parametrised":
    """metric <= t · N with these multipliers; the method's code runs with the parameters as symbols.

    Use it where formulas for the bound and the multipliers are known; `discover` finds them.

    Args:
        arguments: from parameters to the arguments of `worst_case` (see `discover`).
        sample: symbols with values at which comparisons in the code turn out as in the whole domain.
        t: the bound, an expression in the symbols.
        multipliers: expressions by the inequalities' names; the multipliers of others are 0.

    Raises:
        ValueError: a multiplier of an unknown inequality, or a question that the kernel cannot express.
    """
    parameters = Parameters(sample)
    question = question_at(arguments, parameters.numbers)
    unknown = set(multipliers) - {name for name, _ in question.program.inequalities}
    if unknown:
        raise ValueError(f"there are no inequalities {sorted(unknown)}")
    numbers = [parameters.number(multipliers.get(name, 0)) for name, _ in question.program.inequalities]
    return Parametrised(parameters, Combination(question, parameters.number(t), numbers))


@final
@dataclass(frozen=True, eq=False)
class Parametrised:
    """A combination of inequalities and squares whose numbers are functions of the parameters."""

    parameters: Parameters
    combination: Combination

    def lemma(self, relations: Iterable[Any]) -> Lemma:
        """The claim wherever the relations hold, with its proof, which remains to be replayed.

        Raises ValueError where function values do not cancel, or the rest is no sum of squares.
        """
        return self.combination.lemma(Domain(self.parameters.conditions(relations), self.parameters.example))

    def needed_signs(self, relations: tuple[Any, ...]) -> tuple[Any, ...]:
        """Relations that the proof needs besides the given ones; they hold at the sample.

        Multipliers and the weights of squares must be nonnegative, and denominators nonzero.
        """
        return needed_relations(self.parameters, relations, *self._functions())

    def _functions(self) -> tuple[list[Any], list[Any]]:
        """The numbers that must be nonnegative, and others that must be defined."""
        combination, parameters = self.combination, self.parameters
        divisor, constant, *inequalities = combination.question.program.forms
        used = [(form, m) for form, m in zip(inequalities, combination.multipliers, strict=True) if m]
        signed = [*parameters.compared, *(m for _, m in used), *(weight for weight, _ in combination.squares)]
        others = [c for form in (divisor, constant, *(form for form, _ in used)) for c in form.products.values()]
        others += [c for _, u in combination.squares for c in u.parts.values()]
        return signed, others


def needed_relations(
    parameters: Parameters, relations: tuple[Any, ...], signed: Sequence[Any], others: Sequence[Any]
) -> tuple[Any, ...]:
    """Relations besides the given ones where the `signed` numbers are nonnegative, and all of them are defined.

    They hold at the sample if these numbers are so there.
    """
    domain, found = parameters.domain(relations), dict[Any, None]()
    of_signed, of_others = ([parameters.number(x).value for x in dict.fromkeys(xs)] for xs in (signed, others))
    for divisor in {str(f): f for x in (*of_signed, *of_others) for f, n in factors(x) if n < 0}.values():
        if not domain.is_nonzero(moved(divisor, domain)):
            found[_relation(parameters, sympy.Gt, [divisor])] = None
    # Then the numerators, since signs of quotients are decided with those of their denominators known.
    domain = parameters.domain((*relations, *found))
    for x in of_signed:
        if not domain.is_nonnegative(moved(x, domain)):
            odd = [f for f, n in factors(x) if n % 2 and not domain.is_nonzero(moved(f, domain))]
            found[_relation(parameters, sympy.Ge, odd)] = None
    return _independent(parameters, [r for r in found if r is not sympy.true], relations)


def _relation(parameters: Parameters, kind: Any, product: list[Scalar]) -> Any:
    """The product of these factors, or its negative, against 0, as at the sample."""
    expression = sympy.Mul(*(parameters.functions.polynomial(f.above) for f in product))
    return kind(expression if expression.subs(parameters.sample) > 0 else -expression, 0)


def _independent(parameters: Parameters, found: list[Any], relations: tuple[Any, ...]) -> tuple[Any, ...]:
    """Those that do not follow from the others."""
    kept = list(found)
    for relation in found:
        others = parameters.domain((*relations, *(other for other in kept if other != relation)))
        if parameters.follows(relation, others):
            kept.remove(relation)
    return tuple(kept)
