"""A user's own lemmas: the `Lemma`s that a Python file defines, and what can be said of each.

The file is run, as Python runs any module that is imported: give only files that you trust.
"""

from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any, final

from fedconvex.claims.content import content
from fedconvex.claims.settings import NotASetting
from fedconvex.errors import FedconvexError, InvalidInput
from fedconvex.proofs_checks.claims import builder_of
from fedconvex.proofs_checks.falsification import TRIES, search
from fedconvex.proofs_checks.kernel import Refused, theorem
from fedconvex.proofs_checks.library.lemmas import Lemma
from fedconvex.proofs_checks.search.prove import prove
from fedconvex.statements.statement import Statement
from fedconvex.theory import own_names
from fedconvex.theory.others import from_file
from fedconvex.verdicts import Verdict


@final
@dataclass(frozen=True)
class LemmaResult:
    """The verdict on a lemma: its reason, and for a refuted one the federation that breaks it."""

    name: str
    lemma: Lemma
    verdict: Verdict
    reason: str
    counterexample: Any = None


def lemmas_in(path: Path) -> dict[str, Lemma]:
    """The lemmas that a file defines, by the names of the variables that hold them, and its paper's statements.

    Raises:
        InvalidInput: no such file, a file that Python cannot run, a file without lemmas and statements.
    """
    module = from_file(path, own_names())
    found = {name: value for name, value in vars(module).items() if type(value) is Lemma}
    found |= {statement.identifier: lemma_of(statement) for statement in _statements(module)}
    if not found:
        cure = "assign Lemma(setting, claim, proof) to a name, or a paper to PAPER"
        raise InvalidInput("file", path, "defines no lemma and no statement", cure)
    return found


def contents_in(path: Path) -> dict[str, str]:
    """The fingerprints of what these lemmas and statements claim and assume, by the same names."""
    module = from_file(path, own_names())
    found = {name: content(value.claim, value.setting) for name, value in vars(module).items() if type(value) is Lemma}
    return found | {statement.identifier: statement.content for statement in _statements(module)}


def _statements(module: ModuleType) -> tuple[Statement, ...]:
    return module.PAPER.everything if hasattr(module, "PAPER") else ()


def lemma_of(statement: Statement) -> Lemma:
    """A statement's claim and setting, with its proof where the file has one.

    Raises InvalidInput for a statement without a claim, and for assumptions that settings cannot express.
    """
    try:
        claim, setting = statement.claim, statement.setting
    except NotASetting as error:
        cure = "assume what fedconvex/claims/settings.py gives a meaning"
        raise InvalidInput("statement", statement.identifier, str(error), cure) from None
    except FedconvexError:
        raise
    except Exception as error:  # the formula is the user's code, and is called with terms in the place of numbers
        raise _failing(statement, "formula or claim", error) from error
    if claim is None:
        raise InvalidInput("statement", statement.identifier, "claims nothing", "give states=… to its decorator")
    builder = builder_of(statement)
    try:
        return Lemma(setting, claim, None if builder is None else builder(claim))
    except FedconvexError:
        raise
    except Exception as error:
        raise _failing(statement, "proof", error) from error


def _failing(statement: Statement, what: str, error: Exception) -> InvalidInput:
    problem = f"has a {what} that fails, {type(error).__name__}: {error}"
    cure = "write it for terms as for numbers: + − · / and powers, maxima by fedconvex.statements.functions"
    return InvalidInput("statement", statement.identifier, problem, cure)


def checked(name: str, lemma: Lemma, seconds: float | None = None, *, tries: int = TRIES) -> LemmaResult:
    """The lemma's verdict: random federations first, then its proof, or without one a search for a proof.

    The verdict depends on the lemma and on `tries` alone. `seconds` limits the search for federations; where it ends
    that search before its tries, the reason says so.
    """
    try:
        found = search(lemma.claim, lemma.setting, seconds, tries=tries)
    except InvalidInput:
        raise
    except Exception as error:  # a setting that no federation satisfies: the kernel says why
        searched = f"no federation was tried: {error}"
    else:
        searched = str(found)
        if found.counterexample is not None:
            return LemmaResult(name, lemma, Verdict.REFUTED, searched, found.counterexample)
    try:
        derivation = lemma.proof if lemma.proof is not None else prove(lemma)
        if derivation is None:
            return LemmaResult(name, lemma, Verdict.UNKNOWN, f"no proof was found; {searched}")
        theorem(lemma.setting, lemma.claim, derivation)
    except Refused as error:
        return LemmaResult(name, lemma, Verdict.UNKNOWN, f"its proof is refused: {error}; {searched}")
    source = "" if lemma.proof is not None else ", which was found by a search"
    return LemmaResult(name, lemma, Verdict.PROVED, f"the kernel replayed its proof{source}; {searched}")
