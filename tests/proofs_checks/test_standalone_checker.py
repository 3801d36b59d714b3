"""The standalone checker against forged certificates: it refuses false and ambiguous ones."""

import json
import re
import subprocess
import sys
from copy import deepcopy
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st
from small_certificates import DECEPTIONS, at, at_least, beyond, component, fact, holds, minus, proof

from fedconvex.proofs_checks.certificates import CHECKER
from fedconvex.proofs_checks.standalone_checker import check, fits, main, proofs, report, written


@pytest.mark.parametrize("name", DECEPTIONS)
def test_what_deceives_is_refused(name) -> None:
    deceives, honest = DECEPTIONS[name]
    check(honest)
    assert not holds(deceives)


@pytest.mark.parametrize("e", [
    True, None, 0.5, "", " ", " x", "x\n", "\u202ex", "\ud800", {}, [], ["+"], ["*"], ["-", 1, 2], ["+", True],
    ["/", 1], ["/", 1, 0], ["/", 1, -2], ["/", 1, True], ["/", "1", 2], ["/", 1, 2, 3], ["/", "1", None],
    ["/", ["+", 1, 1], 2], ["^", 2], ["^", 2, True], ["^", 2, "x"], ["^", 2, 0.5], ["^", 2, 1, 1], ["^", 0, -1],
    ["^", minus("x", "x"), -1], [["+"], 1], ["^", ["^", 0, -1], 0],
])  # fmt: skip
def test_what_is_no_expression_is_refused(e) -> None:
    assert holds(proof(left=1, right=1))
    assert not holds(proof(left=e, right=e))
    assert not holds(proof(facts=[fact(0, e, equation=True)]))


@pytest.mark.parametrize("e", [None, [], {}, "x", 1, proof(positive="x"), proof(positive=[["x"]]), proof(facts={}),
                               proof(note="0 <= 1"), proof(kind="all"), {**proof(), "squared": None}])  # fmt: skip
def test_what_is_no_proof_is_refused(e) -> None:
    assert not holds(e)


@pytest.mark.parametrize("place", [
    ("conditions", 0), ("facts", 0), ("squares", 0), ("squares", 0, "vector", 0), ("signs", 0),
    ("signs", 0, "substitutions", 0),
])  # fmt: skip
def test_a_key_that_nobody_reads_is_refused(place) -> None:
    found = beyond("t", facts=[fact(0, 0)], squares=[{"weight": 0, "vector": [component("a")]}])
    found |= {"left": 1, "right": 1}
    check(found)
    inside = found = deepcopy(found)
    for key in place:
        inside = inside[key]
    inside["but"] = 0
    assert not holds(found)


# ---- files


def file(*found: object, **given: object) -> str:
    return json.dumps({"format": "fedconvex certificate 2", "step": "a step", "proof": [*found]} | given)


def test_a_file_has_proofs() -> None:
    assert proofs(file(proof(), proof(left=-1, right=1))) == [proof(), proof(left=-1, right=1)]


GOOD = file(proof(left=1, right=1))
FILES = {
    "no proof": file(),
    "a proof that is no list": file(proof=proof()),
    "proofs by name": file(proof={}),
    "another format": file(proof(), format="fedconvex certificate 3"),
    "an unknown key": file(proof(), note=""),
    "no step": json.dumps({"format": "fedconvex certificate 2", "proof": [proof()]}),
    "a step that is no text": file(proof(), step=7),
    "a list": "[]",
    "nothing": "",
    "the left side twice": GOOD.replace('"left": 1', '"left": 2, "left": 1'),
    "the proofs twice": GOOD[:-1] + ', "proof": []}',
    "a float": GOOD.replace('"left": 1', '"left": 1.0'),
    "an exponent": GOOD.replace('"left": 1', '"left": 1e0'),
    "not a number": GOOD.replace('"left": 1', '"left": NaN').replace('"right": 1', '"right": NaN'),
    "infinity": GOOD.replace('"left": 1', '"left": Infinity').replace('"right": 1', '"right": Infinity'),
    "minus infinity": GOOD.replace('"left": 1', '"left": -Infinity'),
    "more digits than are read": GOOD.replace('"left": 1', '"left": -1' + "0" * 10_000),
    "two texts": GOOD + GOOD,
    "very deep": GOOD.replace('"left": 1', '"left": ' + '["+", 1, ' * 100_000 + "0" + "]" * 100_000),
}


def test_the_original_file_is_read() -> None:
    assert proofs(GOOD)


@pytest.mark.parametrize("name", FILES)
def test_what_can_be_read_in_two_ways_is_refused(name, tmp_path, capsys) -> None:
    (tmp_path / "file.json").write_text(FILES[name], "utf-8")
    assert main([str(tmp_path / "file.json")]) == 1
    assert "does not hold" in capsys.readouterr().out


@pytest.mark.beyond_core  # starts a process
def test_no_file_shows_nothing() -> None:
    assert main([]) == 1
    for options in ([], ["-O"], ["-OO"]):
        done = subprocess.run(
            [sys.executable, "-I", *options, str(CHECKER)], capture_output=True, text=True, check=False
        )
        assert done.returncode == 1
        assert "which files?" in done.stderr


# ---- what is printed


def test_the_claim_and_all_that_is_granted_are_printed(tmp_path, capsys) -> None:
    found = beyond(
        "t", positive=["L"], nonnegative=["x", "E f"], facts=[fact(0, 0), fact(minus("x", "L"), equation=True)]
    )
    found |= {"left": ["^", minus("x", "L"), 2], "right": minus(["^", "x", 2], ["*", "L", minus(["*", 2, "x"], "L")])}
    found["facts"][1]["multiplier"] = 0
    found["conditions"].append(at_least(minus("L", ["/", 1, 2]), True))
    found["squares"] = [{"weight": 0, "vector": [component("a"), component("b", part="~")]}]
    (tmp_path / "found.json").write_text(file(found, proof()), "utf-8")
    assert main([str(tmp_path / "found.json")]) == 0
    assert capsys.readouterr().out.splitlines() == [
        f"{tmp_path / 'found.json'}: holds",
        "    (x - L)^2 <= x^2 - L*(2*x - L)",
        "      granted: L > 0",
        '      granted: x, "E f" >= 0',
        "      granted: x - 1 >= 0",
        "      granted: L - 1/2 > 0",
        "      granted: it is known: 0 >= 0",
        "      granted: it is known: x - L = 0",
        "      granted: these are vectors: a; b~",
        "    0 <= 0",
        "      granted: nothing",
    ]


GRANTS = [
    {"positive": ["z"]}, {"nonnegative": ["z"]}, {"conditions": [at_least("z")]}, {"facts": [fact(0)]},
    {"squares": [{"weight": 0, "vector": [component("a")]}]},
]  # fmt: skip


@pytest.mark.parametrize("given", GRANTS)
def test_nothing_is_granted_only_where_nothing_is(given) -> None:
    assert report(proof()) == ["0 <= 0", "  granted: nothing"]
    check(proof(**given))
    assert not any("nothing" in line for line in report(proof(**given)))


def test_a_fact_that_cannot_be_is_seen() -> None:
    """The checker knows no facts: the reader sees what is called the Cauchy-Schwarz inequality."""
    found = proof(left=1, facts=[fact(-1, name="the Cauchy-Schwarz inequality")])
    check(found)
    assert report(found) == ["1 <= 0", "  granted: the Cauchy-Schwarz inequality: -1 >= 0"]


@pytest.mark.parametrize(("e", "expected"), [
    ("1", '"1"'), ("1 <= 2", '"1 <= 2"'), ("f(x*)", '"f(x*)"'), ("a-b", '"a-b"'), ("-", '"-"'), ('"', r'"\""'),
    ("‖a‖*‖b‖", '"‖a‖*‖b‖"'), ("‖a−b‖", "‖a−b‖"), ("⟨a,b~⟩", "⟨a,b~⟩"), ("‖", '"‖"'), ("σ", "σ"), (-3, "-3"),
    (["*", -1, "x"], "-x"), (["*", -2, "x", "y"], "-2*x*y"), (["*", "x", -2], "x*(-2)"), (["^", -2, 2], "(-2)^2"),
    (["*", -1, ["^", 2, 2]], "-2^2"), (["^", ["/", 1, 2], 2], "(1/2)^2"), (["*", ["/", -1, 2], "x"], "-1/2*x"),
    (["^", ["^", "x", 2], -3], "(x^2)^-3"), (["+", 1, ["*", -1, ["+", "x", "y"]]], "1 - (x + y)"),
    (["*", -1, 1], "-1"), (["*", -1, "1"], '-"1"'), (["*", -1, -1], "-(-1)"), (["+", "x", ["+", -1, "y"]], "x - 1 + y"),
])  # fmt: skip
def test_formulas(e, expected) -> None:
    assert written(e) == expected


NUMBERS = st.integers(-3, 3) | st.builds(lambda p, q: ["/", p, q], st.integers(-3, 3), st.integers(1, 3))
EXPRESSIONS = st.recursive(
    NUMBERS | st.sampled_from("abc"),
    lambda parts: st.one_of(
        st.builds(lambda op, several: [op, *several], st.sampled_from("+*"), st.lists(parts, min_size=1, max_size=3)),
        st.builds(lambda base, n: ["^", base, n], parts, st.integers(-2, 2)),
    ),
    max_leaves=12,
)


@given(e=EXPRESSIONS)
def test_a_formula_says_what_the_expression_is(e) -> None:
    """Python reads it back."""
    point = {"a": Fraction(5, 7), "b": Fraction(-3, 2), "c": Fraction(11)}
    numbers = {"N": Fraction, **point}
    source = re.sub(r"\d+", r"N(\g<0>)", written(e)).replace("^-", "^ -").replace("^", "**")
    try:
        expected = at(e, point)
    except ZeroDivisionError:
        return
    assert eval(source, {"__builtins__": {}}, numbers) == expected  # noqa: S307 # our own formula, and nothing else


def test_fits_is_exact() -> None:
    for good, bad, kind in (
        (1, True, (1,)),
        (False, 0, (False, True)),
        ([1], (1,), [(1,)]),
        ({"a": 1}, {}, {"a": (1,)}),
    ):
        fits(good, kind)
        with pytest.raises(ValueError, match=r"stand|none of|no list|wanted"):
            fits(bad, kind)
