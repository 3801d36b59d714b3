"""Runs a statement's proof and concludes its verdict from those of the steps.

A step is checked only after `_objection` has found that it may use what it uses: hypotheses that the statement makes,
and claims that are proved before. Statements that others rest on are verified first, once for a whole call.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from pkgutil import iter_modules
from time import perf_counter
from typing import Any, final

from fedconvex.proofs_checks.claims import builder_of, theorem_of
from fedconvex.proofs_checks.conclusions import part_not_concluded
from fedconvex.proofs_checks.engines.witnesses import Replay, Witness, replay
from fedconvex.proofs_checks.hypotheses import (
    ambiguity,
    assumption_at_one_point,
    defined_symbol,
    hypotheses_of,
    missing_hypothesis,
    missing_hypothesis_of,
    symbol_in_constants,
)
from fedconvex.proofs_checks.kernel import Refused, Theorem
from fedconvex.proofs_checks.proof import CheckOutcome, Proof, Relation, RestsOnItself, Role, Step, built, conclusion
from fedconvex.proofs_checks.readings import UNDECIDED, words
from fedconvex.statements.assumptions.base import Assumption
from fedconvex.statements.statement import Statement
from fedconvex.theory import paper_names, papers, statement
from fedconvex.verdicts import Verdict

BY_KERNEL = "the kernel replayed the proof of its claim"
BY_INSTANCES = "a definition: it is compared with the running code on instances, and there is nothing to prove"


@final
@dataclass(frozen=True)
class StepResult:
    """A step of a proof with the outcome of its check."""

    step: Step
    outcome: CheckOutcome
    seconds: float


@final
@dataclass(frozen=True)
class Result:
    """The verdict on a statement and what it is based on.

    Args:
        as_printed, holds: what the verdict says of the printed words, and what holds (`readings`), a phrase each.
        other_reading: the counterexample to another reading, and what running it gave; "" where no program shows one.
        reason: one sentence: how many steps are proved, or which step is not and why.
        evidence: every step with its outcome, in the paper's order.
        witness, replayed: the counterexample to a refuted statement, and what running it gave.
        corrected: for a refuted statement, the statement that holds instead.
        vacuous: where the statement promises nothing. extra: a result beside the statement.
        tightness: an instance that shows how much of the bound is attained; None where there is none.
        seconds: the time of the checks, without that of other statements.
        theorem: what the kernel proved of the statement's claim, with all that it assumes; None without such a proof.
    """

    statement: Statement
    verdict: Verdict
    reason: str
    evidence: tuple[StepResult, ...] = ()
    witness: Witness | None = None
    replayed: Replay | None = None
    notes: str = ""
    corrected: Statement | None = None
    extra: str = ""
    vacuous: str = ""
    tightness: Any = None
    seconds: float = 0.0
    as_printed: str = UNDECIDED
    holds: str = UNDECIDED
    other_reading: str = ""
    theorem: Theorem | None = None

    def __str__(self) -> str:
        from fedconvex.proofs_checks.reporting.records import record
        from fedconvex.proofs_checks.reporting.screen import screen

        return screen(record(self))

    def _repr_html_(self) -> str:
        from fedconvex.proofs_checks.reporting.html import details
        from fedconvex.proofs_checks.reporting.records import record

        return details(record(self))

    def count(self, verdict: Verdict) -> int:
        """The number of steps with this verdict."""
        return sum(result.outcome.verdict is verdict for result in self.evidence)


Known = dict[Statement, Result]
"""The results of a call so far. The key is the whole statement: one with another formula has the same identifier."""


def catalogue() -> tuple[Statement, ...]:
    """Every statement that the papers make, by paper, without the corrected and sharper ones, which are ours."""
    return tuple(s for paper in papers().values() for s in paper)


def verify(of: Statement | str) -> Result:
    """Runs a statement's proof: PROVED, REFUTED with a witness, UNKNOWN or ASSUMED.

    Use it to look at one statement; for many use `verify_all`, or `fedconvex verify`, which caches results. A statement
    that holds only under a condition that the paper does not make is REFUTED, and `corrected` is what holds.

    Args:
        of: a statement, or its identifier such as "fedprox.theorem4".

    Raises:
        InvalidInput: an unknown identifier, with the nearest known ones.
    """
    return _verified(statement(of) if isinstance(of, str) else of, (), {})


def verify_all(of: Iterable[Statement]) -> Iterator[Result]:
    """Runs the proofs of many statements, lazily; a statement on which several rest is verified once."""
    known: Known = {}
    for one in of:
        yield _verified(one, (), known)


def proof_of(of: Statement) -> Proof | None:
    """The statement's proof as data, without running it; None where there is none."""
    _load(of.paper.name)
    return built(of)


def papers_with_proofs() -> tuple[str, ...]:
    """The papers with a module or folder of proofs, sorted: those of which `fedconvex verify` runs all statements."""
    package = import_module("fedconvex.proofs_checks")
    modules = {module.name for module in iter_modules(package.__path__)}
    return tuple(name for name in paper_names() if name in modules)  # the folder also has engines and reports


@cache
def _load(paper: str) -> None:
    """Imports the proofs of one paper; nothing for a paper without proofs. The others' would take a second."""
    if paper in papers_with_proofs():
        import_module(f"fedconvex.proofs_checks.{paper}")


def _verified(of: Statement, under_way: tuple[str, ...], known: Known) -> Result:
    if of in known:
        return known[of]
    try:
        proof = proof_of(of)
    except RestsOnItself as error:
        return Result(of, Verdict.UNKNOWN, str(error))
    if proof is None:
        theorem, refusal = _replayed(of)
        if theorem is None:
            return Result(of, Verdict.UNKNOWN, refusal or "there is no proof yet")
        phrases = words(of, Proof(()), Verdict.PROVED, corrected=None, line_fails=False, by_instances=False)
        as_printed, holds, _ = phrases
        return Result(of, Verdict.PROVED, BY_KERNEL, as_printed=as_printed, holds=holds, theorem=theorem)
    if of.identifier in under_way:  # by identifier: a changed copy of a statement must not prove itself by the original
        return Result(of, Verdict.UNKNOWN, f"its proof rests on itself: {' → '.join((*under_way, of.identifier))}")
    evidence: list[StepResult] = []
    for step in proof.steps:
        evidence.append(_run(step, of, evidence, (*under_way, of.identifier), known))
    verdict, reason, replayed = _conclude(of, proof, evidence)
    theorem = None
    if verdict is Verdict.PROVED:  # by its steps; a derivation that the kernel refuses is no proof beside them
        theorem, refusal = _replayed(of)
        verdict, reason = (Verdict.UNKNOWN, refusal) if refusal else (verdict, reason)
    corrected = statement(proof.corrected) if proof.corrected else None
    phrases = words(
        of, proof, verdict,
        corrected=_verified(corrected, (*under_way, of.identifier), known).verdict if corrected else None,
        line_fails=any(r.step.role is Role.PRINTED and r.outcome.verdict is Verdict.REFUTED for r in evidence),
        by_instances=reason == BY_INSTANCES,
    )  # fmt: skip
    known[of] = Result(
        of, verdict, reason, tuple(evidence), proof.refutation, replayed, proof.notes, corrected,
        proof.extra, proof.vacuous, proof.tightness, sum(found.seconds for found in evidence), *phrases, theorem,
    )  # fmt: skip
    return known[of]


def _replayed(of: Statement) -> tuple[Theorem | None, str]:
    """The kernel's theorem, or why it refuses the statement's derivation; neither where there is none."""
    if builder_of(of) is None:
        return None, ""
    try:
        return theorem_of(of), ""
    except Refused as error:
        return None, f"the kernel refuses its derivation: {error}"


def _run(step: Step, of: Statement, before: list[StepResult], under_way: tuple[str, ...], known: Known) -> StepResult:
    objection = _objection(step, of, before, under_way, known)
    start = perf_counter()  # after the objection, which may verify other statements: their time is counted with them
    outcome = CheckOutcome(Verdict.UNKNOWN, objection) if objection else step.by.run(step.claim)
    return StepResult(step, outcome, perf_counter() - start)


def _objection(step: Step, of: Statement, before: list[StepResult], under_way: tuple[str, ...], known: Known) -> str:
    """Why the step may not use what it uses: an unproved claim, or a hypothesis that the statement does not make."""
    if step.case and step.case not in of.cases:
        return "it is about a case that the statement does not have"
    # A step about one case of the statement may use the case's hypothesis, and so may what rests on it, there only.
    made = (*of.assumptions, *step.case)
    here = hypotheses_of(of, made)
    for alternatives, constant in step.by.assumes():
        hypothesis = missing_hypothesis(alternatives, constant, here, step.claim.domain)
        if hypothesis:
            return f"it uses {hypothesis}, which the statement does not assume"
    # A telescoped sum needs its hypotheses at every iterate: B-dissimilarity at one point is not enough.
    if step.by.joins_rounds() and (point := assumption_at_one_point(made)):
        return f"it is about many rounds, but {point} is assumed at one point only"
    for claim in step.by.rests_on():
        # Substituting into a claim is sound only for symbols that are free in it: not for one that an earlier step
        # defined, and not for a constant of a hypothesis of this statement.
        chosen = step.by.chooses(claim)
        if letter := defined_symbol(chosen, (*(result.step for result in before), step)):
            return f"it puts something in for {letter}, which has a meaning"
        if not _is_proved(claim, step.case, before, under_way, known):
            return f"it rests on {claim.source or claim.name}, which is not proved"
        if claim.source:
            hypothesis = missing_hypothesis_of(
                statement(claim.source), chosen, here, step.claim.domain, step.by.discharges()
            )
            if hypothesis:
                return f"it rests on {claim.source}, which assumes {hypothesis}"
        elif letter := symbol_in_constants(here, chosen):
            return f"it puts something in for {letter}, with which the statement assumes something"
    return ""


def _is_proved(
    claim: Relation, case: tuple[Assumption, ...], before: list[StepResult], under_way: tuple[str, ...], known: Known
) -> bool:
    """Whether an earlier step (not of another case), or another statement's conclusion, has proved the claim."""
    if claim.source:
        other = statement(claim.source)
        is_proved = _verified(other, under_way, known).verdict is Verdict.PROVED
        return is_proved and claim == conclusion(other)  # a proof may not quote more than the other one concludes
    return any(
        r.step.claim == claim
        and r.outcome.verdict is Verdict.PROVED
        and r.step.by.shows_claim
        and set(r.step.case) <= set(case)
        for r in before
    )


def _conclude(of: Statement, proof: Proof, evidence: list[StepResult]) -> tuple[Verdict, str, Replay | None]:
    if proof.refutation is not None:
        # The counterexample decides: the steps of a refuted statement only show how far its printed proof goes.
        found = replay(proof.refutation)
        return found.verdict, f"{proof.refutation.shows}: {found.detail}", found
    needed = [result for result in evidence if result.step.role is Role.PROOF]
    # A refuted step comes first: it is the most telling reason. It refutes the proof and not the statement: UNKNOWN.
    for verdict in (Verdict.REFUTED, Verdict.UNKNOWN, Verdict.ASSUMED):
        for result in needed:
            if result.outcome.verdict is verdict:
                missing = Verdict.ASSUMED if verdict is Verdict.ASSUMED else Verdict.UNKNOWN
                return missing, f"{result.step.shown}: {result.outcome.detail}", None
    if not needed:
        return Verdict.UNKNOWN, "the proof has no step", None
    if letter := ambiguity(proof):
        return Verdict.UNKNOWN, letter, None
    # Every step may hold, and yet be about another formula than the statement's.
    if other := part_not_concluded(of, proof):
        return Verdict.UNKNOWN, other, None
    by_instances = not any(result.step.by.shows_claim for result in needed)
    return Verdict.PROVED, BY_INSTANCES if by_instances else f"{len(needed)} steps", None
