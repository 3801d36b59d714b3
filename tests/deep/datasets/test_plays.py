"""Speeches and roles from plays in both text formats."""

import gzip
import time
from pathlib import Path

import pytest
from dataset_makers import refused, tarred

from fedconvex.deep.datasets import read_plays

WITH_TABS = """\tTHE STORM


\tDRAMATIS PERSONAE


ANNA\ta queen.

BEN
OF BATH\t(BEN OF BATH:)\t|
\t\t|  lords
CARL\t(CARL:)\t|

SCENE\tAt sea.

\tTHE STORM

ACT I



SCENE I\tOn deck. A storm
\tand thunder.

\t[Enter ANNA and BEN OF BATH,
\tboth wet]

ANNA\tBlow, winds!
\tBlow [To BEN] harder.

BEN
OF BATH\t[Aside]  Not I\tnot I.

\t[Thunder. Exit
\tANNA]

\t        So, gentlemen,
\tfarewell.

Carl: [Within]  Who is there?

First Lord\t|
\t|\tAye!
Second Lord\t|

anna\tI am.

\tTHE STORM

ACT II

\tNobody says this.

\tEPILOGUE

\tNor this.

Carl\tThe end.
\t[Exeunt

ANNA\tOver?
"""
WITH_COLONS = """First Citizen:
Before we go,
hear me.

All:
Speak, speak.

First Citizen:
I said: hear me.
Resolved:

yes.

MENENIUS:

"""
POEM = """\tA POEM

From there he spoke:
No more be grieved:

The violet thus I chide:
Sweet thief

  \tout of line
"""


def test_speeches_with_tabs(tmp_path: Path) -> None:
    (tmp_path / "storm.txt").write_text(WITH_TABS)
    assert read_plays(tmp_path / "storm.txt") == {
        ("storm", "ANNA"): ["Blow, winds!\nBlow  harder.", "I am.", "Over?"],
        ("storm", "BEN OF BATH"): ["Not I\tnot I.\nSo, gentlemen,\nfarewell."],
        ("storm", "CARL"): ["Who is there?", "The end."],
        ("storm", "FIRST LORD"): ["Aye!"],
    }


def test_speeches_with_colons(tmp_path: Path) -> None:
    (tmp_path / "tiny.txt.gz").write_bytes(gzip.compress(WITH_COLONS.replace("\n", "\r\n").encode("utf-8-sig")))
    assert read_plays(tmp_path / "tiny.txt.gz") == {
        ("tiny", "FIRST CITIZEN"): ["Before we go,\nhear me.", "I said: hear me.\nResolved:\nyes."],
        ("tiny", "ALL"): ["Speak, speak."],
    }


def archive(path: Path, members: dict[str, str]) -> Path:
    path.write_bytes(tarred({name: text.encode() for name, text in members.items()}, "w:gz"))
    return path


def test_a_folder_an_archive_and_a_list_are_alike(tmp_path: Path) -> None:
    texts = {"b/storm.txt": WITH_TABS, "b/tiny.txt": WITH_COLONS, "b/poem.txt": POEM, "b/LICENSE": WITH_COLONS}
    (tmp_path / "b").mkdir()
    for name, text in texts.items():
        (tmp_path / name).write_text(text)
    folder = read_plays(tmp_path / "b")
    assert {play for play, _ in folder} == {"storm", "tiny"}
    assert read_plays(archive(tmp_path / "b.tar.gz", texts)) == folder
    assert read_plays([tmp_path / "b" / "storm.txt", tmp_path / "b" / "tiny.txt"]) == folder


def test_an_archive_is_never_unpacked(tmp_path: Path) -> None:
    path = archive(tmp_path / "x.tar.gz", {"../outside.txt": WITH_TABS})
    assert ("outside", "ANNA") in read_plays(path)
    assert [item.name for item in tmp_path.iterdir()] == ["x.tar.gz"]
    assert not (tmp_path.parent / "outside.txt").exists()


TWO_PLAYS = tarred({"a.txt": b"A:\nyes\n\n", "b.txt": b"A:\nyes\n\n"})  # of one block each


@pytest.mark.parametrize(
    ("name", "data", "says"),
    [
        ("poem.txt", POEM.encode(), "has no speeches"),
        ("empty.txt", b"", "the file is empty"),
        ("latin.txt", b"A:\nyes\n\nB:\n\xe9\n", "line 5: is not UTF-8 text"),
        ("x.tar.gz", b"no archive", "gzip data is damaged"),
        ("y.tar.gz", gzip.compress(b"no archive"), "is not a readable archive"),
        (
            "header.tar",
            TWO_PLAYS[:1024] + b"x" + TWO_PLAYS[1025:],
            "is not a readable archive (after its first members",
        ),
        ("cut.tar", TWO_PLAYS[:1024], "is not a readable archive (after its first members"),
        ("z.txt.gz", gzip.compress(WITH_TABS.encode())[:-9], "truncated"),
    ],
    ids=[
        "poem",
        "empty",
        "latin",
        "damaged",
        "no archive",
        "header",
        "cut",
        "truncated",
    ],  # bytes of gzip have the time in them
)
def test_wrong_files(name: str, data: bytes, says: str, tmp_path: Path) -> None:
    (tmp_path / name).write_bytes(data)
    with refused(name, says):
        read_plays(tmp_path / name)


@pytest.mark.parametrize("line", ["[" * 200_000, "[a] [" * 100_000, "NAME\n" * 200_000])
def test_brackets_that_never_close_and_long_names_take_linear_time(line: str, tmp_path: Path) -> None:
    (tmp_path / "play.txt").write_text(f"THE STORM\n\nANNA\tHear me.\n\n{line}\n\nBEN\tI do.\n")
    begun = time.process_time()
    assert read_plays(tmp_path) == {("play", "ANNA"): ["Hear me."], ("play", "BEN"): ["I do."]}
    assert time.process_time() - begun < 5  # quadratic time would be half a minute and more


def test_missing_files(tmp_path: Path) -> None:
    with refused("there is no such file or folder", "MIT edition"):
        read_plays(tmp_path / "nowhere")
    with refused(str(tmp_path), "has no file *.txt or *.txt.gz"):
        read_plays(tmp_path)


def test_the_same_file_twice(tmp_path: Path) -> None:
    (tmp_path / "tiny.txt").write_text(WITH_COLONS)
    with refused("each file once"):
        read_plays([tmp_path / "tiny.txt", tmp_path / "tiny.txt"])
