"""A certificate as a lemma: a claim about some rounds, all that it assumes, and a proof that the kernel replays.

The claim is metric ≤ t·N in the claim language. Its proof has the certificate's multipliers, of interpolation
inequalities and of the question's assumptions, and the form that is left as a sum of squares.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from typing import Any, final

from fedconvex.proofs_checks.kernel.proofs import Derivation
from fedconvex.proofs_checks.library import Lemma, Parts, concluding, squared
from fedconvex.proofs_checks.worst_cases.certificates.question_terms import Condition, NoLemma, QuestionTerms, written
from fedconvex.proofs_checks.worst_cases.programs.quadratic_forms import Family, Indefinite, squares
from fedconvex.proofs_checks.worst_cases.questions.function_classes import ClientGroups, SimilarClients
from fedconvex.proofs_checks.worst_cases.questions.question import Question


@final
@dataclass(frozen=True)
class Domain:
    """Conditions on the parameters, which are positive, and values that satisfy them."""

    conditions: tuple[Condition, ...] = ()
    example: Mapping[str, Fraction] = field(default_factory=dict)


@final
@dataclass(frozen=True, eq=False)
class Combination:
    """t·N − metric as the question's inequalities with multipliers, and squares with weights.

    t and the multipliers may be rational functions of parameters (`theorems.rational_functions`).

    Raises:
        NoLemma: the question is none about rounds as the kernel plays them.
    """

    question: Question
    t: Any
    multipliers: Sequence[Any]

    def __post_init__(self) -> None:
        question, clients = self.question, self.question.spec.clients
        what = {
            "client groups": isinstance(clients, ClientGroups),
            "similar clients": isinstance(clients, SimilarClients),
            "all possible draws": question.enumerated,
            "noise": question.spec.noise is not None,
            "moments of draws in several rounds": question.settled is not None,
            "random communication": question.terms.histories_of.branches and not question.enumerated,
            "inexact answers in several rounds": (
                not self.question.enumerated and len(self.question.board.residuals) > 1
            ),
            "a single client": question.board.clients == 1,
            "functions of a single curvature": clients.lowest == clients.highest,
            "conditions beside curvatures": not clients.by_curvatures,
        }
        if about := [name for name, holds in what.items() if holds]:
            raise NoLemma(f"proofs about {about[0]} are not written out")

    @cached_property
    def squares(self) -> list[tuple[Any, Family]]:
        """The vectors and their weights. Raises NoLemma."""
        rest = self.question.program.rest(self.t, self.multipliers)
        if rest.values:
            raise NoLemma(f"the function values {', '.join(rest.values)} do not cancel")
        try:
            return [(weight, Family(dict(sorted(u.parts.items())))) for weight, u in squares(rest)]
        except Indefinite as error:
            raise NoLemma(f"the rest is no sum of squares: {error}") from None

    def lemma(self, domain: Domain | None = None) -> Lemma:
        """The claim with its proof, which the kernel has not replayed yet. Raises NoLemma."""
        domain, terms = domain or Domain(), QuestionTerms(self.question)
        claim, total = terms.claim(self.t), terms.of_draws
        for (name, _), multiplier in zip(self.question.program.inequalities, self.multipliers, strict=True):
            if multiplier:
                total += terms.inequality(name) * written(multiplier)
        total += sum((squared(terms.vector(u)) * written(weight) for weight, u in self.squares), start=Parts())
        proof = Derivation((concluding(claim, total),), terms.invariants)
        return Lemma(terms.setting(domain.conditions, domain.example), claim, proof)
