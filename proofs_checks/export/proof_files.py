"""Proofs as files: one JSON file for every statement, which can be replayed with those that it cites beside it."""

from collections.abc import Iterable
from pathlib import Path

from fedconvex.atomic_files import remove_leftovers, write_atomically
from fedconvex.claims.claim import Claim, ClaimSetting
from fedconvex.errors import InvalidInput, short_text
from fedconvex.proofs_checks.claims import builder_of, cited, derivation_of
from fedconvex.proofs_checks.export.json_proofs import LONGEST, from_json, to_json
from fedconvex.proofs_checks.kernel import Refused, Theorem, theorem
from fedconvex.proofs_checks.kernel.proofs import Derivation
from fedconvex.proofs_checks.verification import load
from fedconvex.statements.statement import Statement
from fedconvex.theory import statement as statement_of


def write_proofs(folder: Path, statements: Iterable[Statement]) -> list[Path]:
    """Writes the proofs of these statements and of those that they cite; what has no proof is left out.

    Each file is named as its statement, and replaced in one step.
    """
    folder.mkdir(parents=True, exist_ok=True)
    remove_leftovers(folder)
    written: dict[str, Path] = {}
    waiting = list(statements)
    while waiting:
        of = waiting.pop()
        load(of.paper.name)
        if of.identifier in written or builder_of(of) is None or of.claim is None:
            continue
        derivation = derivation_of(of)
        written[of.identifier] = folder / f"{of.identifier}.json"
        write_atomically(written[of.identifier], to_json(of.setting, of.claim, derivation).encode())
        waiting += [statement_of(identifier) for identifier in cited(derivation)]
    return [written[identifier] for identifier in sorted(written)]


def replayed(path: Path) -> Theorem:
    """The theorem that the kernel makes of a file, and of the files beside it that the proof cites.

    Raises:
        InvalidInput: a file that is missing, too long, or no proof.
        Refused: the kernel refuses the proof; the reason names the line.
    """
    return theorem(*_read(path), lambda identifier: _beside(path, identifier))


def _beside(path: Path, identifier: str) -> tuple[ClaimSetting, Claim, Derivation]:
    try:
        other = path.with_name(f"{Path(identifier).name}.json")
        is_there = other.is_file()
    except (OSError, ValueError):  # a name that no file can have
        is_there = False
    if not is_there:
        name = short_text(identifier)
        raise Refused(f"{name} is cited, but {name}.json is not beside {path.name}")
    return _read(other)


def _read(path: Path) -> tuple[ClaimSetting, Claim, Derivation]:
    cure = "give a proof that --certificates has written"
    if not path.is_file():
        raise InvalidInput("file", path, "does not exist", cure)
    if path.stat().st_size > 4 * LONGEST:
        raise InvalidInput("file", path, "is too long for a proof", f"give at most {LONGEST} characters")
    try:
        text = path.read_text("utf-8")
    except UnicodeDecodeError:
        raise InvalidInput("file", path, "is no text", cure) from None
    except OSError as error:
        raise InvalidInput("file", path, f"cannot be read ({error.strerror})", cure) from None
    try:
        return from_json(text)
    except InvalidInput as error:
        raise InvalidInput("file", path, f"{short_text(error.value)} {error.problem}", error.cure) from None
