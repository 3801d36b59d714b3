"""A user's own lemmas: the `Lemma`s that a Python file defines, and what can be said of each.

The file is run, as Python runs any module that is imported: give only files that you trust.
"""

from dataclasses import dataclass
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any, final

from fedconvex.errors import InvalidInput
from fedconvex.proofs_checks.falsification import falsify_claim
from fedconvex.proofs_checks.kernel import Refused, theorem
from fedconvex.proofs_checks.library.lemmas import Lemma
from fedconvex.proofs_checks.search.prove import prove
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
    """The lemmas that a file defines, by the names of the variables that hold them.

    Raises:
        InvalidInput: no such file, a file that Python cannot run, a file without lemmas.
    """
    if not path.is_file():
        raise InvalidInput("file", path, "does not exist", "give a Python file with lemmas")
    spec = spec_from_file_location(f"fedconvex_own_{path.stem}", path)
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
    except (Exception, SystemExit) as error:  # whatever the user's file raises is wrong input
        where = f"{type(error).__name__}: {error}"
        raise InvalidInput("file", path, f"cannot be run: {where}", "run it with Python alone first") from error
    found = {name: value for name, value in vars(module).items() if type(value) is Lemma}
    if not found:
        raise InvalidInput("file", path, "defines no lemma", "assign Lemma(setting, claim, proof) to a name")
    return found


def checked(name: str, lemma: Lemma, seconds: float) -> LemmaResult:
    """The lemma's verdict: random federations first, then its proof, or without one a search for a proof."""
    try:
        broken = falsify_claim(lemma.claim, lemma.setting, seconds)
    except InvalidInput:
        raise
    except Exception as error:  # a setting that no federation satisfies: the kernel says why
        broken, searched = None, f"no federation was tried: {error}"
    else:
        searched = "no federation breaks it"
    if broken is not None:
        return LemmaResult(name, lemma, Verdict.REFUTED, "a federation breaks it", broken)
    try:
        derivation = lemma.proof if lemma.proof is not None else prove(lemma)
        if derivation is None:
            return LemmaResult(name, lemma, Verdict.UNKNOWN, f"no proof was found; {searched}")
        theorem(lemma.setting, lemma.claim, derivation)
    except Refused as error:
        return LemmaResult(name, lemma, Verdict.UNKNOWN, f"its proof is refused: {error}; {searched}")
    found = "" if lemma.proof is not None else ", which was found by a search"
    return LemmaResult(name, lemma, Verdict.PROVED, f"the kernel replayed its proof{found}; {searched}")
