"""Parser of plays: the speeches of every role, from plain text in two formats.

* `NAME<TAB>speech`, further lines of the speech indented, stage directions in brackets: the Moby/MIT edition.
* `NAME:` on a line of its own, the speech on the lines below, blank lines between speeches; the file starts with
  such a name: the file "tinyshakespeare".
"""

import os
import re
import tarfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Self, final

from fedconvex.data.file_contents import buffered, contents
from fedconvex.data.table import MAX_BYTES, bad_file
from fedconvex.deep.datasets.reading import files_with_suffix, opened

ORIGIN = (
    "the MIT edition of Shakespeare's plays (one text file per play), the file tinyshakespeare of char-rnn (fedconvex "
    "deep download shakespeare does that), or the benchmark LEAF (as JSON)"
)
ARCHIVES = (".tar.gz", ".tgz", ".tar")
# A line that starts an act or a scene, or a prologue or an epilogue: from here on no role speaks until one is named.
HEADING = re.compile(r"\s*(?:(?:ACT|SCENE)\s+[IVXL]+\b|(?:THE )?(?:PROLOGUE|EPILOGUE)\.?\s*$|INDUCTION\s*$)")
WITH_TAB = re.compile(r"^[^\s|\[][^\t\n]*\t[ \t]*[^\s|]", re.MULTILINE)
# At most 61 characters: a longer line that ends in a colon is speech.
WITH_COLON = re.compile(r"([^\s:][^:\n]{0,60}):[ \t]*")
# A name and its speech on one line, but separated by a colon and spaces instead of a tab.
ONE_LINE = re.compile(r"([A-Z][\w' .-]*):\s+(\S.*)")
# Up to the end of the line where no bracket closes it: a line of brackets that open is then read once, not once each.
DIRECTION = re.compile(r"\[[^\]]*\]?")

Speeches = dict[tuple[str, str], list[str]]


def read_plays(paths: str | os.PathLike[str] | Sequence[str | os.PathLike[str]]) -> Speeches:
    """Read the speeches of every (play, role) in the order of the text, lines separated by newlines.

    Use it to build your own data set from plays; `shakespeare` calls it.

    paths: a text file, plain or gzipped, named for its play; a tar archive of such files; a folder, whose *.txt and
        *.txt.gz files are read; or a list of them. Files without speeches (poems) in a folder or archive are skipped.

    Names of roles are in capitals; a name spread over two lines is joined; FIRST LORD is a different role in every
    play. Left out: the list of roles at the start, headings, stage directions, and lines before the first name in a
    scene (some prologues and epilogues). Raises InvalidInput if no file has a speech.
    """
    places = [paths] if isinstance(paths, str | os.PathLike) else list(paths)
    speeches: Speeches = {}
    for place in places:
        before = len(speeches)
        for path in files_with_suffix(Path(place), (".txt", ".txt.gz"), "the plays", ORIGIN):
            for play, text in _plays(path):
                for role, speech in _speeches(text):
                    speeches.setdefault((play, role), []).append(speech)
        if len(speeches) == before:
            cure = "give text with NAME<TAB>speech, or NAME: and the speech below it, each file once"
            raise bad_file(place, "has no speeches", cure)
    return speeches


def _plays(path: Path) -> Iterator[tuple[str, str]]:
    """Yield the play's name and its text, or those of every text file in an archive."""
    if not path.name.lower().endswith(ARCHIVES):
        yield re.sub(r"(\.txt)?(\.gz)?$", "", path.name, flags=re.IGNORECASE), _decoded(path, contents(path))
        return
    try:
        with opened(path) as stream, tarfile.open(fileobj=stream, mode="r|", tarinfo=_Member) as archive:
            for member in archive:  # read into memory, never unpacked: a member's name could lead outside the folder
                if not member.isfile() or not member.name.lower().endswith(".txt"):
                    continue
                inside = archive.extractfile(member)
                if inside is None or member.size > MAX_BYTES:
                    raise bad_file(path, f"{member.name} cannot be read", "unpack it and give the folder")
                yield Path(member.name).stem, _decoded(path, buffered(inside).getvalue())
    except tarfile.TarError as error:
        raise bad_file(path, f"is not a readable archive ({error})", "download or copy the file again") from None


@final
class _Member(tarfile.TarInfo):
    """A member of an archive whose other members are not dropped in silence where a header is damaged or missing."""

    @classmethod
    def fromtarfile(cls, archive: tarfile.TarFile) -> Self:
        try:
            return super().fromtarfile(archive)
        except tarfile.HeaderError as error:  # which tarfile takes for the archive's end
            if type(error).__name__ == "EOFHeaderError":  # the end: a block of zeros
                raise
            raise tarfile.ReadError(f"after its first members: {error}") from None


def _decoded(path: Path, data: bytes) -> str:
    try:
        return data.decode("utf-8-sig").replace("\r\n", "\n")
    except UnicodeDecodeError as error:
        line = data[: error.start].count(b"\n") + 1
        raise bad_file(path, f"line {line}: is not UTF-8 text", "save the file as UTF-8") from None


def _speeches(text: str) -> Iterator[tuple[str, str]]:
    """Yield role and speech; nothing for a text in neither format."""
    if WITH_TAB.search(text):
        lines = _lines_with_tabs(text)
    elif WITH_COLON.fullmatch(text.lstrip().partition("\n")[0]):  # a poem may have such a line, but starts with a title
        lines = _lines_with_colons(text)
    else:
        return
    role, speech = "", [""]
    for name, line in lines:
        if name is not None:
            if role and (said := "\n".join(filter(None, speech))):
                yield role, said
            role, speech = " ".join(name.strip(" \t|:").upper().split()), []
        speech.append(line.strip(" \t|"))
    if role and (said := "\n".join(filter(None, speech))):
        yield role, said


def _lines_with_tabs(text: str) -> Iterator[tuple[str | None, str]]:
    """Yield (name, line): the role that starts to speak, "" for none, or None while the same role goes on."""
    begun = "DRAMATIS PERSONAE" not in text
    title = next((line.strip() for line in text.splitlines() if line.strip()), "")
    # first_lines: those of a name that is spread over several; inside: within a bracket that is still open.
    first_lines, inside = list[str](), False
    for whole in text.splitlines():
        if not whole.strip():
            first_lines, inside = [], False  # a bracket that is never closed ends with its paragraph
            continue
        line, inside = _without_directions(whole, inside)
        if HEADING.match(whole):
            begun = True
            yield "", ""
        elif not begun or not line.strip() or whole.strip() == title:  # the title may be repeated
            continue
        elif line[0].isspace():
            yield None, line
        elif "\t" in line:
            name, _, speech = line.partition("\t")
            yield " ".join([*first_lines, name]), speech
            first_lines = []
        elif one := ONE_LINE.fullmatch(line.rstrip()):
            yield one[1], one[2]
        else:
            first_lines.append(line.strip())


def _without_directions(line: str, inside: bool) -> tuple[str, bool]:
    """Return the line without stage directions in brackets, and whether a bracket is still open at its end."""
    if inside:
        _, closed, line = line.partition("]")
        if not closed:
            return "", True
        line = "\t" + line  # the rest of the line belongs to the speech, as an indented line does
    return DIRECTION.sub("", line), line.rfind("[") > line.rfind("]")


def _lines_with_colons(text: str) -> Iterator[tuple[str | None, str]]:
    """As `_lines_with_tabs`."""
    for paragraph in re.split(r"\n[ \t]*\n", text):
        lines = paragraph.strip("\n").split("\n")
        head = WITH_COLON.fullmatch(lines[0])
        if head:
            yield head[1], ""
        yield from ((None, line) for line in (lines[1:] if head else lines))
