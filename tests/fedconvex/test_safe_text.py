"""Text that is safe to show: what is escaped, what stays, and that pictures and tables show it literally."""

import json

import pytest

from fedconvex.errors import InvalidInput
from fedconvex.safe_text import LONGEST_PATH, in_markdown_table, in_picture, one_line, printable, shown_path


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("FedProx: ‖x − x*‖ ≤ ρ, θ̃", "FedProx: ‖x − x*‖ ≤ ρ, θ̃"),
        ("thin space\u2009and no-break space\u00a0stay", "thin space\u2009and no-break space\u00a0stay"),
        ("two\nlines and a\ttab", "two\nlines and a\ttab"),
        ("\x1b[31mred\x07", r"\u001b[31mred\u0007"),
        ("\x9b2J\x7f", r"\u009b2J\u007f"),  # commands of 8-bit terminals
        ("\u202egnp.exe\u2066", r"\u202egnp.exe\u2066"),  # right to left
        ("a\u200bb\ufeff", r"a\u200bb\ufeff"),  # no width
        ("\u2028\udcff", r"\u2028\udcff"),
        ("\U000e0041", r"\udb40\udc41"),
    ],
)
def test_what_no_reader_sees_is_written_out(text: str, shown: str) -> None:
    assert printable(text) == shown
    assert printable(shown) == shown


@pytest.mark.parametrize("text", ["\x1b[0m", "\x7f\x9b", "\u202e", "\U000e0041", "κ ≤ 1\n"])
def test_json_means_the_same_afterwards(text: str) -> None:
    assert json.loads(printable(json.dumps({text: text}, ensure_ascii=False))) == {text: text}


def test_a_name_is_one_line_and_short() -> None:
    assert one_line("a\nb\tc\r") == r"a\nb\tc\r"
    assert one_line("x" * 100, 10) == "x" * 9 + "…"


def test_of_a_long_path_the_last_part_stays() -> None:
    assert shown_path("a\x1b/b.csv") == r"a\u001b/b.csv"
    assert shown_path("d/" * 500 + "b.csv") == "…" + ("d/" * 500 + "b.csv")[-LONGEST_PATH + 1 :]


@pytest.mark.beyond_core  # takes seconds
@pytest.mark.parametrize("text", ["$x$", "100 $", r"\$ and $", "$$$", "_hidden", "a_b^c", r"\frac{1}", "{", "plain"])
def test_a_picture_shows_the_text_itself(text: str) -> None:
    from matplotlib.text import Text

    shown, is_math = Text(0, 0, in_picture(text))._preprocess_math(in_picture(text))
    assert (shown.strip(), bool(is_math)) == (text, False)
    assert not in_picture(text).startswith("_")  # such labels are left out of legends


def test_a_cell_of_a_markdown_table_does_not_end_early() -> None:
    assert in_markdown_table("a|b\nc") == r"a\|b c"
    assert in_markdown_table("a\\|b") == "a&#92;&#124;b"
    assert in_markdown_table("<script>x</script> 1 < 2") == "&lt;script>x&lt;/script> 1 < 2"


def test_an_error_shows_names_and_does_not_obey_them() -> None:
    error = InvalidInput("a\x1b", "v\x1b", "is \u202e" + "x" * 5000, "c\x9b")
    assert str(error).isprintable()
    assert len(str(error)) < 2500
    assert str(error).endswith(r"; c\u009b")
