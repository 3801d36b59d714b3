"""Faults in exported theorems, each shown to be one without Rocq: in a claim, a hypothesis, a round, or a proof.

A changed claim or hypothesis is a fault where an exact federation breaks it: everything that is assumed holds there,
and the method's own code plays rounds, in rational numbers, after which the claim is false. A changed multiplier is one
where the kernel refuses the proof. Rocq gets the changed theorem with the proof of the right one, or the right theorem
with the changed proof.
"""

from collections.abc import Collection, Iterator
from dataclasses import dataclass, replace
from random import Random
from time import process_time
from typing import Any

from claim_mutants import mutated_proofs

from fedconvex.claims.claim import Claim, ClaimSetting
from fedconvex.claims.on_runs.choices import Choices
from fedconvex.claims.on_runs.random_federations import federation_of
from fedconvex.claims.on_runs.random_parameters import NoFederation
from fedconvex.claims.terms import Number, Vector, number
from fedconvex.errors import FedconvexError
from fedconvex.proofs_checks.claims import _entry, derivation_of
from fedconvex.proofs_checks.kernel import Refused, theorem
from fedconvex.proofs_checks.kernel.proofs import Derivation
from fedconvex.proofs_checks.rocq.files import Exported, exported, script_of, without_repeats
from fedconvex.proofs_checks.rocq.run_scripts import RunScript
from fedconvex.proofs_checks.rocq.runs import RunTheorem
from fedconvex.proofs_checks.rocq.scripts import Script
from fedconvex.proofs_checks.rocq.steps import TheoremSteps
from fedconvex.proofs_checks.rocq.terms import Missing
from fedconvex.proofs_checks.rocq.theorems import TheoremText
from fedconvex.statements.statement import Statement
from fedconvex.theory import statement as statement_of

KINDS = ("constant", "sign", "exponent", "moment", "hypothesis", "round", "multiplier")
IN_CLAIM, IN_SETTING, IN_PROOF = frozenset(KINDS[:4]), frozenset(KINDS[4:6]), frozenset(KINDS[6:])
# Where a changed formula has no value: division by 0, a root of a negative number, a time after the last round.
UNDEFINED = (NoFederation, FedconvexError, ArithmeticError, ValueError, IndexError)
# What is not in the language of the export, or of proofs.
UNWRITTEN = (Missing, Refused, StopIteration, AssertionError)


@dataclass(frozen=True)
class Mutant:
    """A statement with one change. `before` and `after` are the lines of Rocq that differ, `text` is the whole file.

    Where the change is in the proof, `derivation` is the changed one.
    """

    identifier: str
    kind: str
    before: str
    after: str
    text: str
    setting: ClaimSetting
    claim: Claim
    derivation: Derivation | None = None


def mutants_of(statement: Statement, kinds: Collection[str] = KINDS) -> Iterator[Mutant]:
    """All mutants of an exported statement that can be written about the same vectors, as they are made.

    None of proofs by cases, and of proofs along any number of local steps.
    """
    try:
        _script(statement)
    except Missing:
        return
    text = exported(statement).text
    if not IN_CLAIM.isdisjoint(kinds):
        yield from _of_claim(statement, text)
    if not IN_SETTING.isdisjoint(kinds):
        yield from _of_setting(statement, text)
    if not IN_PROOF.isdisjoint(kinds):
        yield from _of_proof(statement, text)


def unchanged(statement: Statement) -> str:
    """The right theorem as mutants are written, in a file of its own: Rocq must accept it."""
    text = exported(statement).text
    begin = text.rindex("\nTheorem ")
    claim = text[begin : text.index("\nProof.", begin)].splitlines()[-1]
    return _with_line(statement, text, claim, claim)


def shown_wrong(mutant: Mutant, seconds: float = 5) -> str:
    """How the mutant is known to be wrong without Rocq; "" where it is not. `seconds`: of CPU for the search."""
    if mutant.derivation is not None:
        try:
            theorem(mutant.setting, mutant.claim, mutant.derivation, lambda other: _entry(statement_of(other)))
        except Refused as error:
            return f"the kernel: {error}"
        return ""
    begun, number = process_time(), 0
    while process_time() - begun < seconds:
        number += 1
        try:
            federation = federation_of(mutant.setting, mutant.claim, Choices(f"{mutant.identifier}/{number}"))
            found = replace(mutant.claim, within=None).on(federation)
        except UNDEFINED:
            continue
        if found.holds is False:
            at = ", ".join(f"{name} = {value}" for name, value in federation.parameters.items())
            return f"federation {number}, {at}: {found.says}"
    return ""


# ---- the claim


def _of_claim(statement: Statement, text: str) -> Iterator[Mutant]:
    script, claim = _script(statement), statement.claim
    assert claim is not None
    before = _conclusion(script, claim)
    for kind, changed in _changed_claims(claim):
        variables = _variables(script)
        try:
            after = _conclusion(script, changed)
        except UNWRITTEN:
            after = ""
        if _variables(script) != variables:  # about vectors that the theorem does not have
            script = _script(statement)
        elif after not in ("", before):
            new = _with_line(statement, text, f"  {before}.", f"  {after}.")
            yield Mutant(statement.identifier, kind, before, after, new, statement.setting, changed)


def _changed_claims(claim: Claim) -> Iterator[tuple[str, Claim]]:
    for side in ("left", "right"):
        for kind, changed in _changed(getattr(claim, side)):
            yield kind, replace(claim, **{side: changed})


def _changed(term: Any, as_exponent: bool = False) -> Iterator[tuple[str, Any]]:
    """The term with one constant one larger or smaller, parameter doubled or halved, sign or time changed."""
    if type(term) not in (Vector, Number):
        return
    if term.head == "constant":
        yield from (
            ("exponent" if as_exponent else "constant", Number("constant", (term.args[0] + d,))) for d in (1, -1)
        )
    if term.head == "parameter":
        yield from (("constant", other) for other in (term * 2, term / 2))
    if term.head in ("server", "shared", "memory", "last answers"):
        yield "moment", Vector(term.head, (*term.args[:-1], 1 - term.args[-1]))
    if term.head in ("+", "-"):
        yield "sign", type(term)("-" if term.head == "+" else "+", term.args)
    for place, part in enumerate(term.args):
        for kind, changed in _changed(part, term.head == "^" and place == 1):
            yield kind, type(term)(term.head, (*term.args[:place], changed, *term.args[place + 1 :]))


# ---- hypotheses, and the rounds


def _of_setting(statement: Statement, text: str) -> Iterator[Mutant]:
    claim = statement.claim
    assert claim is not None
    plain = _script(statement)
    right = _hypotheses(plain)
    for kind, setting, changed in _changed_settings(statement.setting, claim):
        try:
            script = _script(statement, setting) if kind == "round" else plain
            if kind != "round":
                _assume(script, setting)
            now = _hypotheses(script)
            if not set(now) <= set(right):
                continue
            new, lines = text, []
            for name, line in right.items():
                if (other := now.get(name, "True")) != line:
                    lines.append((line, other))
                    new = _with_line(statement, new, f"  ({line}) ->", f"  ({other}) ->")
            if kind == "round":  # the claim may name vectors of the round, such as the residuals
                said = (_conclusion(plain, claim), _conclusion(script, claim))
                if said[0] != said[1]:
                    lines.append(said)
                    new = _with_line(statement, new, f"  {said[0]}.", f"  {said[1]}.")
        except UNWRITTEN:
            continue
        if lines:
            before, after = (" ".join(f"({line[k]})" for line in lines) for k in (0, 1))
            yield Mutant(statement.identifier, kind, before, after, new, setting, changed)


def _changed_settings(setting: ClaimSetting, claim: Claim) -> Iterator[tuple[str, ClaimSetting, Claim]]:
    """Weaker assumptions: a condition or sign left out, bounds twice as far; then other parameters of the method."""
    setting = replace(setting, example={})
    for k in range(len(setting.conditions)):
        left = (*setting.conditions[:k], *setting.conditions[k + 1 :])
        yield "hypothesis", replace(setting, conditions=left), claim
    for name, sign in setting.signs.items():
        if sign != "real" and name not in setting.counts:
            yield "hypothesis", replace(setting, signs={**setting.signs, name: "real"}), claim
    least, most = setting.curvature
    if least is not None:
        farther = -1 - abs_bound(most) if least.head == "constant" else least / 2
        yield "hypothesis", replace(setting, curvature=(farther, most)), claim
    if most is not None:
        yield "hypothesis", replace(setting, curvature=(least, 2 * most)), claim
    low, high = setting.objective
    if low is not None and least is None:
        farther = -1 - abs_bound(high) if low.head == "constant" else low / 2
        yield "hypothesis", replace(setting, objective=(farther, high)), claim
    if high is not None and most is None:
        yield "hypothesis", replace(setting, objective=(low, 2 * high)), claim
    if setting.single_client:
        yield "hypothesis", replace(setting, single_client=False), claim
    for name in ("inexactness", "dissimilarity", "variance", "objective_gap", "similarity"):
        if (bound := getattr(setting, name)) is not None:
            yield "hypothesis", replace(setting, **{name: 2 * bound}), claim
    if (least_gradient := setting.large_gradient) is not None:
        yield "hypothesis", replace(setting, large_gradient=least_gradient / 4), claim
    if setting.minimiser:
        anywhere = replace(claim, left=_moved(claim.left), right=_moved(claim.right))
        yield "hypothesis", replace(setting, minimiser=False), anywhere
    for name, formula in setting.method_parameters.items():
        if type(formula) is Number and name not in ("local_steps", "option"):
            other = {**setting.method_parameters, name: 2 * formula}
            yield "round", replace(setting, method_parameters=other), claim


def abs_bound(most: Number | None) -> Number:
    """A number at least 0: the largest curvature, where there is one."""
    return number(0) if most is None else most


def _moved(term: Any) -> Any:
    """Any vector in the place of the minimiser."""
    if type(term) not in (Vector, Number):
        return term
    return Vector("free", ("xs",)) if term.head == "minimiser" else type(term)(term.head, tuple(map(_moved, term.args)))


def _assume(script: Script | RunScript, setting: ClaimSetting) -> None:
    """Other assumptions in the theorem, with the variables that it has."""
    of: TheoremText = script.theorem.master if isinstance(script, RunScript) else script.theorem
    of.setting = setting
    of.hypotheses.clear()
    of._assumptions()


def _hypotheses(script: Script | RunScript) -> dict[str, str]:
    """The text of each hypothesis by its name."""
    if isinstance(script, RunScript):
        of_rounds = {h.name: h.text for h in script.theorem.used.values()}
        if not script.theorem.master.setting.minimiser:
            of_rounds.pop("stationary", None)
        return {h.name: h.text for h in script.theorem.master.hypotheses} | of_rounds
    return {h.name: h.text for h in (*script.theorem.hypotheses, *script.theorem.round_hypotheses())}


# ---- the proof


def _of_proof(statement: Statement, text: str) -> Iterator[Mutant]:
    claim = statement.claim
    assert claim is not None
    every = list(mutated_proofs(derivation_of(statement)))
    for changed in Random(0).sample(every, len(every)):
        try:
            script = _script(statement, derivation=changed)
        except UNWRITTEN:
            continue
        begin = min(place for word in ("\nLemma ", "\nTheorem ") if (place := text.find(word)) >= 0)
        new = f"{text[:begin]}\n{without_repeats(script.whole())}\n"
        lines = ([line for line in of.splitlines() if " (by_" in line] for of in (text, new))
        differ = [pair for pair in zip(*lines, strict=False) if pair[0] != pair[1]]
        if differ:
            yield Mutant(statement.identifier, "multiplier", *differ[0], new, statement.setting, claim, changed)


# ---- texts


def _script(
    statement: Statement, setting: ClaimSetting | None = None, derivation: Derivation | None = None
) -> Script | RunScript:
    """The theorem with its proof, which has made all of its variables."""
    if setting is None and derivation is None:
        made = script_of(statement)
        if not isinstance(made, Script | RunScript):
            raise Missing("mutants of proofs by cases, and along local steps")
        made.whole()
        return made
    claim, name = statement.claim, statement.identifier.replace(".", "_")
    assert claim is not None
    given = (name, setting or statement.setting, claim, derivation or derivation_of(statement))
    if claim.of_run:
        of_run = RunScript(RunTheorem(*given))
        of_run.whole()
        return of_run
    of = TheoremText(*given)
    TheoremSteps(of)
    script = Script(of)
    if derivation is not None:
        script.whole()
    return script


def _conclusion(script: Script | RunScript, claim: Claim) -> str:
    if isinstance(script, RunScript):
        keep, script.theorem.printed = script.theorem.printed, claim
        try:
            return script.display.conclusion()
        finally:
            script.theorem.printed = keep
    of = script.theorem
    keep_sides = (of.left, of.right)
    of.left, of.right = of._side(claim.left), of._side(claim.right)
    try:
        return of.conclusion()
    finally:
        of.left, of.right = keep_sides


def _variables(script: Script | RunScript) -> tuple[int, ...]:
    of = script.theorem.round
    return len(of.variables), len(of.gradients)


def _with_line(statement: Statement, text: str, before: str, after: str) -> str:
    """The theorem with another line, in a file of its own that takes lemmas from the right one's."""
    begin = text.rindex("\nTheorem ")
    head = text[: min(p for word in ("\nLemma ", "\nTheorem ") if (p := text.find(word)) >= 0)]
    needed = f"From Statements Require Import {Exported(statement.identifier).module}.\n"
    head = head if needed in head else f"{head}{needed}"
    end = text.index("Proof.", begin)
    if text[begin:end].count(f"{before}\n") != 1:
        raise Missing("a line that is not alone")
    return head + text[begin:end].replace(f"{before}\n", f"{after}\n") + text[end:]
