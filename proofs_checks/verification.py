"""The verdict on a statement: the kernel replays the proof of its claim, and what else is known is looked at again.

PROVED is what the kernel replayed. REFUTED is what a counterexample shows that is run. COMPARED is a definition, or a
formula about data, that agrees with the running code on exact instances: nothing is proved of it.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from importlib import import_module
from pkgutil import iter_modules
from time import perf_counter
from typing import Any, final

from fedconvex.claims.display.statements import displayed
from fedconvex.claims.on_runs.admissibility import offences
from fedconvex.claims.settings import NotASetting
from fedconvex.claims.statements import case_of
from fedconvex.claims.terms import number
from fedconvex.errors import InvalidInput
from fedconvex.proofs_checks.claims import LIBRARY, builder_of, derivation_of, proof_of, theorem_of
from fedconvex.proofs_checks.evidence import EvidenceLine, Role
from fedconvex.proofs_checks.kernel import Refused, Theorem
from fedconvex.proofs_checks.readings import UNDECIDED, words
from fedconvex.proofs_checks.remarks import Remarks, remarks_of
from fedconvex.proofs_checks.reporting.derivations import evidence_of
from fedconvex.proofs_checks.witnesses import Replay, Witness, replay
from fedconvex.statements.statement import Statement
from fedconvex.theory import module_of, own_names, paper_names, papers, statement
from fedconvex.theory.others import is_from_elsewhere
from fedconvex.validation import instance_of
from fedconvex.verdicts import Verdict

BY_INSTANCES = "compared with the running code on exact instances; there is nothing to prove, or no proof"


@final
@dataclass(frozen=True)
class Result:
    """The verdict on a statement and what it is based on.

    Args:
        as_printed, holds: what the verdict says of the printed words, and what holds (`readings`), a phrase each.
        other_reading: the counterexample to another reading, and what running it gave; "" where no program shows one.
        reason: one sentence: what proves it, or why nothing does.
        evidence: the lines of the proof, comparisons with the running code, and printed lines that fail.
        witness, replayed: the counterexample to a refuted statement, and what running it gave.
        corrected: for a refuted statement, the statement that holds instead.
        vacuous: where the statement guarantees nothing.
        tightness: an instance that shows how much of the bound is attained; None where there is none.
        seconds: the time that the proof and the comparisons took.
        theorem: what the kernel proved of the statement's claim, with all that it assumes; None without such a proof.
    """

    statement: Statement
    verdict: Verdict
    reason: str
    evidence: tuple[EvidenceLine, ...] = ()
    witness: Witness | None = None
    replayed: Replay | None = None
    notes: str = ""
    corrected: Statement | None = None
    vacuous: str = ""
    tightness: Any = None
    seconds: float = 0.0
    as_printed: str = UNDECIDED
    holds: str = UNDECIDED
    other_reading: str = ""
    theorem: Theorem | None = None

    def __str__(self) -> str:
        from fedconvex.proofs_checks.reporting.records import record
        from fedconvex.proofs_checks.reporting.views import screen

        return screen(record(self))

    def _repr_html_(self) -> str:
        from fedconvex.proofs_checks.reporting.records import record
        from fedconvex.proofs_checks.reporting.views import details

        return details(record(self))


def catalogue() -> tuple[Statement, ...]:
    """Every statement that the papers make, by paper, without the corrected and sharper ones, which are ours."""
    return tuple(s for paper in papers().values() for s in paper)


def verify(of: Statement | str) -> Result:
    """Replays a statement's proof: PROVED, REFUTED with a witness, COMPARED with the code, or UNKNOWN.

    Use it to look at one statement; for many use `verify_all`, or `fedconvex verify`, which caches results. A statement
    that holds only under a condition that the paper does not make is REFUTED, and `corrected` is what holds.

    Args:
        of: a statement, or its identifier such as "fedprox.theorem4".

    Raises:
        InvalidInput: an unknown identifier, with the nearest known ones.
    """
    found = (
        statement(of)
        if isinstance(of, str)
        else instance_of(of, Statement, "of", "a statement", "give one such as fedconvex.theory.fedprox.theorem4")
    )
    return _verified(found)


def verify_all(of: Iterable[Statement]) -> Iterator[Result]:
    """Replays the proofs of many statements, lazily."""
    return map(_verified, of)


def papers_with_proofs() -> tuple[str, ...]:
    """The papers with a module or folder of proofs, sorted: those of which `fedconvex verify` runs all statements."""
    modules = _modules()
    # the folder also has the kernel and reports; papers from elsewhere bring their proofs with them
    return tuple(name for name in paper_names() if name in modules or name not in own_names())


@cache
def _modules() -> frozenset[str]:
    return frozenset(module.name for module in iter_modules(import_module("fedconvex.proofs_checks").__path__))


def load(paper: str) -> None:
    """Imports the proofs of one paper; nothing for a paper without proofs. The others' would take a second."""
    if paper not in own_names():
        if paper in paper_names():
            module_of(paper)
    elif paper in papers_with_proofs():
        import_module(f"fedconvex.proofs_checks.{paper}")


def _verified(of: Statement) -> Result:
    load(of.paper.name)
    start = perf_counter()
    remarks = remarks_of(of)
    theorem, refusal = _replayed(of)
    parts = [_verified(part) for part in of.stated_by if part is not of]
    lines = [comparison.line() for comparison in remarks.compared]
    evidence = (
        *(evidence_of(of, derivation_of(of)) if theorem else ()),
        *map(_as_line, parts),
        *lines,
        *(misprint.line() for misprint in remarks.misprints),
    )
    replayed = None if remarks.refutation is None else replay(remarks.refutation)
    verdict, reason = _of_parts(of, parts) if parts else _conclude(of, remarks, theorem, refusal, lines, replayed)
    corrected = statement(remarks.corrected) if remarks.corrected else None
    as_printed, holds, other_reading = words(
        of, remarks, verdict,
        corrected=_verified(corrected).verdict if corrected else None,
        line_fails=any((e.role, e.verdict) == (Role.PRINTED.value, Verdict.REFUTED.value) for e in evidence),
    )  # fmt: skip
    return Result(
        of, verdict, reason, evidence, remarks.refutation, replayed, remarks.notes, corrected, remarks.vacuous,
        remarks.tightness, perf_counter() - start, as_printed, holds, other_reading, theorem,
    )  # fmt: skip


def _replayed(of: Statement) -> tuple[Theorem | None, str]:
    """The kernel's theorem, or why it refuses the statement's derivation; neither where there is none."""
    if builder_of(of) is None and not (is_from_elsewhere(of.paper.name) and _found_by_search(of)):
        return None, ""
    try:
        return theorem_of(of), ""
    except Refused as error:
        return None, f"the kernel refuses its proof: {error}"


def _found_by_search(of: Statement) -> bool:
    """Whether a search finds a proof of a statement that comes without one; the proof is then the statement's."""
    from fedconvex.proofs_checks.search.prove import prove

    found = prove(of)
    if found is not None:
        proof_of(of)(lambda claim: found)
    return found is not None


def _as_line(part: Result) -> EvidenceLine:
    """A statement that another one is made of, such as a theorem's case with the constant that its O(·) hides."""
    shown, of = displayed(part.statement).formula, part.statement
    return EvidenceLine(
        shown, of.words, of.number, Role.PROOF.value, part.verdict.value, "kernel", f"`{of.identifier}`"
    )


def _of_parts(of: Statement, parts: list[Result]) -> tuple[Verdict, str]:
    """PROVED where the proof of every part proves the claim of the formula's own part, times a positive constant."""
    import sympy

    formulas = of.expression if isinstance(of.expression, tuple) else (of.expression,)
    if len(formulas) != len(parts):
        return Verdict.UNKNOWN, f"its formula has {len(formulas)} parts, and there are {len(parts)} statements"
    for place, (part, formula) in enumerate(zip(parts, formulas, strict=True)):
        name = part.statement.identifier
        if part.verdict is not Verdict.PROVED:
            return Verdict.UNKNOWN, f"{name} is not proved: {part.reason}"
        constant = sympy.simplify(part.statement.expression / formula)
        if not (constant.is_Rational and constant.is_positive):
            return Verdict.UNKNOWN, f"{name} has another formula: the quotient is {constant}"
        try:
            claim, setting = case_of(of, place, number(Fraction(int(constant.p), int(constant.q))))
            LIBRARY.theorem(f"{of.identifier}, {name}", setting, claim, derivation_of(part.statement))
        except (Refused, NotASetting, InvalidInput) as error:
            return Verdict.UNKNOWN, f"the proof of {name} does not prove it, with {constant} for O(·): {error}"
    return Verdict.PROVED, "all its cases are proved, with constants in the place of O(·)"


def _conclude(
    of: Statement,
    remarks: Remarks,
    theorem: Theorem | None,
    refusal: str,
    lines: list[EvidenceLine],
    replayed: Replay | None,
) -> tuple[Verdict, str]:
    differing = next((line for line in lines if line.verdict != Verdict.COMPARED.value), None)
    if remarks.breaks is not None or remarks.refutation is not None:
        if of.restated:  # it is not in the paper's words, so that its failure is not the paper's
            return Verdict.UNKNOWN, "a counterexample is given to a restatement, which says nothing of the paper"
        if theorem is not None:
            return Verdict.UNKNOWN, "it is proved, and a counterexample is given: one of the two is about another claim"
        return _refuted(of, remarks, replayed)
    if differing is not None:
        return Verdict.UNKNOWN, f"the running code computes something else: {differing.detail}"
    if theorem is not None:
        return Verdict.PROVED, "the kernel replayed the proof of its claim"
    if refusal:
        return Verdict.UNKNOWN, refusal
    return (Verdict.COMPARED, BY_INSTANCES) if lines else (Verdict.UNKNOWN, "there is no proof yet")


def _refuted(of: Statement, remarks: Remarks, replayed: Replay | None) -> tuple[Verdict, str]:
    """REFUTED where a federation of the setting breaks the claim; a program beside it is for readers."""
    if remarks.breaks is None or of.claim is None:
        return Verdict.UNKNOWN, "no federation breaks its claim: a program alone says nothing of the statement"
    federation = remarks.breaks()
    if missing := offences(of.setting, federation):
        return Verdict.UNKNOWN, f"the counterexample is not in the statement's setting: {missing[0]}"
    found = of.claim.on(federation)
    if found.holds is not False:
        return Verdict.UNKNOWN, f"the counterexample does not break the claim: {found.says}"
    if replayed is not None and replayed.verdict is not Verdict.REFUTED:
        return Verdict.UNKNOWN, f"the program shows no counterexample: {replayed.detail}"
    shows = "" if remarks.refutation is None or replayed is None else f"{remarks.refutation.shows}: {replayed.detail}; "
    return Verdict.REFUTED, f"{shows}a federation of its setting breaks its claim: {found.says}"
