"""The report's page: well-formed, self-contained, complete, with recorded verdicts and escaped texts."""

import dataclasses
import json
import re
from fractions import Fraction

import pytest
from page_reader import Read, text_of

from fedconvex.display.html import Html, inline, math, tag
from fedconvex.proofs_checks import verify
from fedconvex.proofs_checks.claims import builder_of, derivation_of
from fedconvex.proofs_checks.remarks import remarks_of
from fedconvex.proofs_checks.reporting.derivations import shown_lines
from fedconvex.proofs_checks.reporting.recorded import as_recorded, recorded
from fedconvex.proofs_checks.reporting.recorded import entry as entry_of
from fedconvex.proofs_checks.reporting.records import Record, record
from fedconvex.proofs_checks.reporting.results import Origin
from fedconvex.proofs_checks.verification import load
from fedconvex.proofs_checks.worst_cases.looseness.table import LoosenessRow
from fedconvex.report import audits
from fedconvex.report.contents import Loose, StatementEntry
from fedconvex.report.page import Sections, page
from fedconvex.theory import papers, statement

pytestmark = pytest.mark.beyond_core  # takes seconds

SOME = ["fedprox.equation7", "fedsplit.equation17", "fedprox.equation6"]


@pytest.fixture(scope="module")
def records() -> list[Record]:
    return [record(verify(name)) for name in SOME]


def shown(records: list[Record]) -> str:
    return page([StatementEntry(r, "a paper", Origin.RUN) for r in records], Sections({"made": "now"}))


@pytest.mark.slow
def test_the_whole_page_is_well_formed_and_loads_nothing(whole):
    assert Read(whole).faults() == []


@pytest.mark.parametrize(
    ("planted", "fault"),
    [
        ('<p id="fails"/>', "twice: fails"),
        ('<a href="#nowhere">x</a>', "leads to #nowhere"),
        ('<a href="https://example.org">x</a>', "leads to https://example.org"),
        ('<img src="https://example.org/a.png" alt=""/>', "loads https://example.org/a.png"),
        ('<img src="a.png" alt=""/>', "loads a.png"),
        ('<p style="background:url(a.png)"/>', "style = background:url(a.png)"),
        ('<p onclick="x()"/>', "onclick = x()"),
        ('<link rel="stylesheet"/>', "an element link"),
        ("<style>@import 'a.css'</style>", "@import"),
    ],
)
def test_a_fault_is_noticed(records, planted, fault):
    text = shown(records)
    assert fault in Read(text.replace("</main>", planted + "</main>")).faults()


def test_what_is_not_closed_is_noticed(records):
    with pytest.raises(SyntaxError):
        Read(shown(records).replace("</main>", "<p></main>"))


@pytest.mark.slow
def test_every_statement_is_there_with_its_recorded_verdict(whole):
    details = {one.get("id"): one for one in Read(whole).all("details", class_="statement")}
    assert details.keys() == {s.identifier for paper in papers().values() for s in paper.everything}
    known = recorded()
    for name, one in details.items():
        assert one.get("data-verdict") == (known[name]["verdict"] if name in known else "unknown")
        assert any(line.get("class") == f"verdict {one.get('data-verdict')}" for line in one[0])
        assert bool(one.findall(".//math")), name
    assert known.keys() <= details.keys()
    proved = sum(entry["verdict"] == "proved" for entry in known.values())
    assert f"<b>{proved}</b>" in whole


@pytest.mark.slow
def test_what_fails_is_told_with_what_holds_instead(whole):
    read, known = Read(whole), recorded()
    (section,) = [s for s in read.all("section") if s[0].get("id") == "fails"]
    rows = [text_of(row) for row in section.iter("tr")]
    for name in (name for name, entry in known.items() if entry["verdict"] == "refuted"):
        assert any(name in row and known[name]["corrected"] in row for row in rows)


@pytest.mark.slow
def test_it_can_be_read_with_a_screen_reader(whole):
    read = Read(whole)
    assert read.root.get("lang") == "en"
    assert [int(one.tag[1]) for one in read.root.iter() if one.tag in ("h1", "h2")] == [1, *5 * [2]]
    assert all(one.get("aria-label") and one.get("tabindex") == "0" for one in read.all("svg"))
    assert all(one.get("alt") for one in read.all("img"))
    labelled = {field for label in read.all("label") for field in label.iter() if text_of(label).strip()}
    assert all(one in labelled for name in ("input", "select") for one in read.all(name))
    assert all(one.get("scope") for one in read.all("th"))
    assert all(text_of(one).strip() for one in (*read.all("button"), *read.all("a")))


def test_colours_can_be_read():
    """Contrast at least 4.5 : 1 for text, by the formula of the web's guidelines."""
    from importlib.resources import files

    style = files("fedconvex.report").joinpath("page.css").read_text("utf-8")
    for scheme in re.findall(r":root \{(.*?)\}", style, re.DOTALL):
        colours = dict(re.findall(r"--(\w+): (#\w+)", scheme))
        for ground in ("paper", "shade"):
            for name in ("ink", "faint", "link", "proved", "refuted", "open"):
                assert contrast(colours[name], colours[ground]) >= 4.5, (name, ground)
        assert all(contrast(colours[f"s{i}"], colours["paper"]) >= 3 for i in range(3))
    assert contrast("#777", "#888") < 4.5


def contrast(one: str, other: str) -> float:
    light, dark = sorted(map(luminance, (one, other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def luminance(colour: str) -> float:
    digits = colour[1:] if len(colour) == 7 else "".join(2 * c for c in colour[1:])
    parts = [int(digits[i : i + 2], 16) / 255 for i in (0, 2, 4)]
    red, green, blue = (c / 12.92 if c <= 0.03928 else ((c + 0.055) / 1.055) ** 2.4 for c in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


# what is written is escaped

EVIL = '</title></style></script><script>alert("1")</script><img src="x" onerror="alert(2)">&amp;'


def test_text_is_escaped(records):
    first = records[0]
    text_fields = ("source", "claim", "words", "reason", "notes", "vacuous", "as_printed", "holds", "other_reading")
    bad = dataclasses.replace(
        first,
        **dict.fromkeys(text_fields, EVIL),
        formula=rf"\text{{{EVIL}}}",
        assumptions=(EVIL, f"${EVIL}$", rf"$\text{{{EVIL}}}$"),
        witness={"shows": EVIL, "program": EVIL, "found": EVIL},
        corrected={"identifier": EVIL, "words": EVIL, "formula": rf"\text{{{EVIL}}}"},
        evidence=tuple(
            dataclasses.replace(s, shown=rf"\text{{{EVIL}}}", because=EVIL, place=EVIL, engine=EVIL, detail=EVIL)
            for s in first.evidence
        ),
        kernel=(EVIL, f"${EVIL}$"),
        tightness={"quotient": 0.5, "how": EVIL, "exact": None, "attained": False},
        verdict="refuted",
    )
    loose = Loose(LoosenessRow(first.identifier, EVIL, EVIL, EVIL, EVIL, False), {EVIL: "1"}, 1.0, 1.0, 2.0, False)
    entry = StatementEntry(bad, EVIL, Origin.RUN, ((1.0, 0.5), (2.0, 1.0)), (loose, loose))
    text = page([entry], Sections({EVIL: EVIL}, [EVIL]))
    read = Read(text)
    assert read.faults() == []
    assert text.count("<script") == text.count("</script") == text.count("<style") == 1
    assert "<img" not in text
    assert text_of(read.root).count("alert(2)") > 20  # it is shown, not lost


def test_markup_is_not_escaped_twice():
    assert tag("p", Html("<b>x</b>"), " < ", None, class_="a", hidden=True, title='"', id=None) == (
        '<p class="a" hidden="" title="&quot;"><b>x</b> &lt; </p>'
    )
    assert inline("a < $x$") == f"a &lt; {math('x')}"


def test_what_a_formula_smuggles_in_is_no_markup():
    assert math(r"\text{<img src=x>}") == "<code>\\text{&lt;img src=x&gt;}</code>"
    assert math(r"a < b").startswith("<math")
    assert math(r"\frac{").startswith("<code>")


def test_a_command_that_the_converter_does_not_know_is_no_formula():
    assert math(r"\unheardof x").startswith("<code")
    assert ">arg<" in math(r"\arg\min_u f")
    assert math(r"\Big\|x\Big\|") == math(r"\|x\|")
    assert math(r"\textstyle\sum_k x_k \le \tfrac12") == math(r"\sum_k x_k \le \frac12")


def test_every_formula_of_the_catalogue_becomes_one():
    for one in (one for paper in papers().values() for one in paper.everything):
        load(one.paper.name)
        proof = shown_lines(one, derivation_of(one)) if builder_of(one) else []
        others = (*remarks_of(one).compared, *remarks_of(one).misprints)
        for latex in (one.latex, *(line.shown for line in (*proof, *others))):
            assert math(latex).startswith("<math"), latex


# numbers are never better than what is known


def test_what_is_used_is_rounded_down_and_looseness_too(records):
    part = {"quotient": 0.9999, "how": "", "exact": None, "attained": False}
    loose = Loose(LoosenessRow("x", "L = 1", "1", "0.5", "2", False), {"L": "1"}, 1.0, 1.99999, 2.0, False)
    entry = StatementEntry(dataclasses.replace(records[0], tightness=part), "p", Origin.RUN, (), (loose,))
    line = text_of(Read(page([entry], Sections({}))).all("summary")[0])
    assert "0.999 used" in line
    assert "1.999 times loose" in line


def test_a_worst_case_is_in_the_bound_s_unit():
    row = LoosenessRow("x", "", "", "", "", False)
    assert Loose(row, {}, 10.0, 2.0, 4.0, False).worst == (2.5, 5.0)
    assert Loose(row, {}, 10.0, 2.0, 4.0, True).worst == (20.0, 40.0)  # a decrease is more than was promised
    assert Loose(row, {}, None, 2.0, 4.0, True).worst is None


# recorded verdicts


@pytest.mark.parametrize("name", ["fedprox.equation7", "feddyn.equation15", "feddyn.equation1"])
def test_a_recorded_verdict_tells_what_running_the_proof_tells(name):
    """The second has a printed line that fails, the third is compared with the code alone."""
    run = record(verify(name))
    told = as_recorded(statement(name), entry_of(run))
    assert told is not None
    assert told.verdict == run.verdict
    assert [(line.shown, line.role, line.verdict) for line in told.evidence] == [
        (line.shown, line.role, line.verdict) for line in run.evidence
    ]
    assert {line.detail for line in told.evidence if line.role != "proof"} <= {"as recorded"}
    assert told.formula == run.formula


@pytest.mark.parametrize(
    ("name", "found"),
    [
        ("fedprox.equation7", {"content": "0123456789abcdef"}),
        ("fedprox.equation7", {"proof": "0123456789abcdef"}),
        ("fedprox.equation7", {"lines": {"proved": 1}}),
        ("fedprox.equation7", {"lines": {"proved": 7, "refuted": 1}}),  # which one?
        ("fedprox.equation7", {"lines": {"proved": 7, "unknown": 1}}),
        ("fedprox.equation7", {"verdict": "unknown"}),
        ("fedprox.equation7", {"verdict": "compared"}),
        ("fedprox.definition1", {"verdict": "proved"}),  # nothing is proved of it
        ("fedsplit.equation17", {}),  # its counterexample is run again
        ("nesterov.gradientstep", {"lines": {}}),
    ],
)
def test_a_record_that_does_not_tell_everything_is_not_taken(name, found):
    assert as_recorded(statement(name), recorded()[name] | found) is None


@pytest.mark.slow
def test_where_verdicts_come_from_is_said(whole):
    taken = sum(as_recorded(statement(name), entry) is not None for name, entry in recorded().items())
    assert f"{taken} as recorded with this version, not checked again" in whole
    assert f"{len(recorded()) - taken} checked just now" in whole


def test_a_page_s_numbers_of_points_are_those_of_the_runs(records):
    points = tuple((float(i), float(Fraction(i, 2))) for i in range(1, 8))
    text = page([StatementEntry(records[0], "p", Origin.RUN, points)], Sections({}))
    titles = [text_of(one) for one in Read(text).all("title")[1:]]
    assert titles == [
        f"larger side {i}, smaller side {json.dumps(i / 2).removesuffix('.0')}: 0.5 used" for i in range(1, 8)
    ]


# bounds on the user's data


@pytest.mark.parametrize("name", ["L", "mu", "kappa"])
def test_bounds_of_audited_constants_are_rounded_outwards(name):
    value = 1.00049 if name != "mu" else 1.00051  # the nearest number of four digits is on the wrong side
    relation, number = audits._constant(name, value).split()[-2:]
    assert (relation, number) == (("≥", "1") if name == "mu" else ("≤", "1.001"))
    assert audits._constant(name, None).endswith("= –")
