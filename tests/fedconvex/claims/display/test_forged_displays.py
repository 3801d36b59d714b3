"""No name, symbol or setting can make a display say something else than what it is of."""

import json
import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from fractions import Fraction
from itertools import combinations
from types import UnionType
from typing import Any, Union, get_args, get_origin, get_type_hints

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fedconvex import InvalidInput
from fedconvex.claims import Claim, ClaimSetting, DrawScheme, at_most, equal
from fedconvex.claims.display.letters import Display, symbol_of
from fedconvex.claims.display.phrases import phrases
from fedconvex.claims.display.plain_text import from_latex
from fedconvex.claims.methods import running
from fedconvex.claims.terms import (
    IllFormed,
    Number,
    Vector,
    after,
    answers,
    expected,
    family,
    free,
    gradient,
    last_answers,
    local_step,
    mean,
    memory,
    minimiser,
    named,
    next_round,
    norm,
    number,
    parameter,
    server,
    shared,
    value,
)
from fedconvex.proofs_checks.claims import derivation_of
from fedconvex.proofs_checks.export.json_proofs import from_json, to_json
from fedconvex.proofs_checks.verification import load
from fedconvex.statements.letters import Letters
from fedconvex.statements.notation import Parameter
from fedconvex.symbols import NAME
from fedconvex.theory import papers, statement

pytestmark = pytest.mark.beyond_core

L, mu = parameter("L"), parameter("mu")
x, w = free("x"), server(0)

# ---- names and symbols

LOOK_ALIKES = ["μ", "а", "ｘ", "x\u0301", "x\u200b", "x\u202e", "\ufeffx", "x′", "ℓ", "𝑥", "Ⅹ"]
FORMULAS = [r"x^*)-1+0\,f(x", "x-1", "2 x", "x|y", "x⟩", "f(x)", "", " ", "x ", "x\n", "2", "2x", "-x"]
MARKUP = ["<b>x</b>", "$x$", "{x}", "}x{", "x\\", r"\mu", r"\text{any}", "x&y", "x%", "x#y", "x~y", "x\0"]
NO_NAMES = [*LOOK_ALIKES, *FORMULAS, *MARKUP, "mu_", "_mu", "mu__0", "_", "alpha_0_", "x^*", "w^{t+1}"]
NO_SYMBOLS = [
    *LOOK_ALIKES, *FORMULAS, *MARKUP, "0", "half", r"\mub", r"\bar", r"\bar{}", "x^", "x_", "x_{}", "x^{a}{b}",
    "x_{a}_{b}", "x^{t+1}", r"\gamma^{t-1}", r"\frac{1}{2}", r"\|x\|", r"\nabla f", r"\sum_j v_j", "x^{@+2}", "@", "x@",
    r"\mathrm{x}",
]  # fmt: skip
NO_NOTATION = [r"x^*)-1+0\,f(x", "a-b", "a = b", "a, b", "(x", r"\text{any}", r"\def\x", "x$", "", "а"]
NAMED = ("parameter", "named", "free", "memory", "shared")
MAKE: dict[str, Callable[[str], Any]] = {
    "parameter": parameter, "free": free, "family": family, "memory": lambda n: memory(n, 0),
    "shared": lambda n: shared(n, 1), "signs": lambda n: ClaimSetting(signs={n: "positive"}),
}  # fmt: skip


@pytest.mark.parametrize("kind", MAKE)
@pytest.mark.parametrize("name", NO_NAMES, ids=ascii)
def test_a_name_that_is_none_is_refused_where_it_is_made(kind: str, name: str) -> None:
    with pytest.raises(IllFormed, match=rf"(?s)^{kind} = .*is no name; write ASCII letters and digits"):
        MAKE[kind](name)


@pytest.mark.parametrize("symbol", [s for s in NO_SYMBOLS if s != r"\mu"], ids=ascii)
def test_a_symbol_that_is_none_is_refused_where_it_is_made(symbol: str) -> None:
    for term in (L, w):
        with pytest.raises(IllFormed, match=r"(?s)^named = .*(is no symbol; write a letter|write @ in the place)"):
            named(symbol, term)


@pytest.mark.parametrize("latex", NO_NOTATION, ids=ascii)
def test_a_paper_has_no_other_notation(latex: str) -> None:
    with pytest.raises(InvalidInput, match="is no notation from"):
        Parameter(latex, "a number")
    for changes in ({"server": latex}, {"memory": {"z": latex}}) if latex else ():
        with pytest.raises(InvalidInput, match="is no notation from"):
            Letters(**changes)


def every_text(of: Any) -> Iterator[tuple[Any, Any]]:
    """The places of the names and symbols in a JSON object."""
    if isinstance(of, list) and of[:1] in (["N"], ["V"]) and of[1] in NAMED:
        yield of, 2
    for inside in of.values() if isinstance(of, dict) else of if isinstance(of, list) else ():
        yield from every_text(inside)


@pytest.mark.parametrize("forged", ["μ", "mu_", r"x^*)-1+0\,f(x", "<img src=x>", "x\u202e"], ids=ascii)
def test_a_file_has_none_either(forged: str) -> None:
    load("feddyn")
    of = statement("feddyn.lemma3")
    assert of.claim is not None
    text = to_json(of.setting, of.claim, derivation_of(of))
    assert from_json(text)[1] == of.claim
    for part in ("claim", "setting", "proof"):
        for place in range(len(list(every_text(json.loads(text)[part])))):
            whole = json.loads(text)
            holder, at = list(every_text(whole[part]))[place]
            holder[at] = forged
            with pytest.raises(InvalidInput, match=r"is no (name|symbol)"):
                from_json(json.dumps(whole))


names = st.one_of(
    st.from_regex(NAME, fullmatch=True),
    st.sampled_from(["mu", "m", "u", "mu_0", "mu0", "epsilon", "varepsilon", "alpha_01", "x_1", "x1"]),
)


@given(names, names)
def test_names_that_differ_look_different(one: str, other: str) -> None:
    if one != other:
        assert symbol_of(one) != symbol_of(other)
        assert from_latex(symbol_of(one)) != from_latex(symbol_of(other))
        for make in (MAKE["free"], MAKE["family"], MAKE["memory"], MAKE["shared"]):
            display = Display.standard(())
            assert display.text(make(one)) != display.text(make(other))


# ---- one symbol, one meaning

a, b = named("a", 2 * L), named("a", 3 * L)
point = named("v_@", w + x)
TWO_MEANINGS = {
    "two formulas": at_most(a, b),
    "a formula and a parameter": at_most(named(r"\mu", 10 * mu), mu),
    "a formula inside another": at_most(named("b", a + 1), b),
    "two times": equal(named("v", w + x), named("v", server(1) + x)),
    "a vector and a number": at_most(named("v", 2 * L), norm(named("v", 2 * x))),
    "the server's point": at_most(norm(named("x^@", 2 * w)), norm(w)),
    "the minimiser": at_most(norm(named("x^*", 2 * w)), norm(minimiser)),
    "the objective": at_most(named("f", L) * norm(x), value(w)),
    "a parameter called f": at_most(parameter("f") * L, 1),
    "a parameter called E": at_most(parameter("E") * norm(w), expected(norm(server(1)))),
    "a parameter called max": at_most(parameter("max") * (L + mu), 1),
    "a parameter and a free vector": at_most(parameter("x") * norm(x), 1),
    "a client's answer and a memory": at_most(norm(answers), norm(memory("x", 1))),
    "the server's point and a shared vector": at_most(norm(w), norm(shared("x", 0))),
    "a residual and a memory": at_most(norm(Vector("residuals")), norm(memory("e", 1))),
    "a family and a parameter": at_most(norm(family("v")), parameter("v_k")),
    "a power and a vector": at_most(named("x", L) ** parameter("t"), after(norm(w)), rounds="t"),
    "a power and a symbol": at_most(named("a", L) ** 2, named("a^2", mu)),
    "a gradient and a symbol": at_most(norm(gradient(w)), norm(named("F_k", x))),
    "the next round's subproblem": equal(named("v", local_step(w)), named("v", next_round(local_step(w)))),
}  # fmt: skip


@pytest.mark.parametrize("claim", TWO_MEANINGS.values(), ids=list(TWO_MEANINGS))
def test_two_meanings_for_one_symbol_are_refused(claim: Claim) -> None:
    with pytest.raises(IllFormed, match=r"^symbol = .*: means two things in one display: .*, and "):
        str(claim)
    with pytest.raises(IllFormed, match="means two things"):
        Display.standard(claim.parameters | {"t"}).latex(claim)


def test_symbols_that_only_look_alike_in_plain_text_are_refused() -> None:
    letters = {"epsilon": r"\epsilon", "accuracy": r"\varepsilon"}
    with pytest.raises(
        IllFormed, match="means two things in one display: the parameter epsilon, and the parameter acc"
    ):
        Display.of(Letters(), letters).latex(at_most(parameter("epsilon"), parameter("accuracy")))


def test_one_meaning_may_have_its_symbol_twice() -> None:
    assert str(at_most(a + a, a * 3)) == "a + a ≤ 3 a\nwhere a = 2 L"
    shown = str(equal(point, named("v_@", server(1) + x)))
    assert shown == "v_t = v_{t+1}\nwhere v_t = x^t + x\nwhere x is any vector"


def test_letters_for_times_and_clients_make_room_for_parameters() -> None:
    t, k = parameter("t"), parameter("k")
    assert str(at_most(norm(w) * t, k)) == "‖x^n‖ t ≤ k"
    assert str(at_most(norm(memory("c", 0)) * t, k)).startswith("√(E_j ‖c_j^n‖²) t ≤ k\n")


@pytest.mark.parametrize(
    "identifier", [s.identifier for p in papers().values() for s in p.everything if s.claim is not None]
)
def test_no_claim_speaks_of_times_that_contradict(identifier: str) -> None:
    """In standard notation a round begins at t and ends at t + 1: Lemma 3 of FedDyn said γ^{t+1} − γ^{t−1}."""
    claim = statement(identifier).claim
    assert claim is not None
    times = set(re.findall(r"(?<=[\^_{(])t(?:[+−]\d)?(?=[})\s‖,⟩)]|$)", str(claim).partition("\nwhere ")[0]))
    assert times <= {"t", "t+1"}, str(claim)


def test_vectors_of_different_meaning_look_different() -> None:
    assert str(statement("feddyn.lemma3").claim).splitlines()[0] == "E‖γ^{t+1} − γ^t‖² ≤ ε_{t+1}"
    at = Display.standard(())
    vectors = [answers, last_answers(1), Vector("solutions"), Vector("residuals"), Vector("local gradients"), server(1),
               Vector("before last step"), family("x"), free("x"), minimiser, mean(answers)]  # fmt: skip
    assert all(at.text(u) != at.text(v) for u, v in combinations(vectors, 2))


# ---- settings


def test_a_named_formula_of_a_setting_is_written_out() -> None:
    forged = ClaimSetting(
        **running("FedSplit", stepsize=named("s", 1 / L)), signs={"mu": "positive", "L": "positive"},
        curvature=(named(r"\mu", 10 * mu), named("L", L / 7)), inexactness=named("B", L * mu), answers="error",
        conditions=((named("a", L), ">=", named("b", mu)),), draws=DrawScheme("independent", named("K", L * 3)),
    )  # fmt: skip
    told = phrases(forged, Display.standard(forged.signs), plain=True)
    assert "every client's function has curvatures of at least 10 μ" in told
    assert "every client's function has curvatures of at most L/7" in told
    assert "the method is FedSplit with server 'all', start 'center', stepsize 1/L" in told
    assert "every answer is at most L μ from the subproblem's solution" in told
    assert "L ≥ μ" in told
    assert any(phrase.startswith("3 L clients are drawn") for phrase in told)


NUMBERS = [L, mu, 2 * L, -L, number(0), L + mu]
OF_FIELD: dict[str, list[Any]] = {
    "method": [{}, running("FedProx", mu=L), running("FedProx", mu=mu), running("FedSplit", stepsize=L),
               running("FedSplit", stepsize=L, start="warm"), running("Scaffold", stepsize=L),
               running("Scaffold", stepsize=L, option=1), running("FedADMM", rho=L),
               running("FedADMM", rho=L, server_stepsize=1)],
    "signs": [{"L": "positive", "mu": s, "T": s} for s in ("positive", "nonnegative", "real")] + [{"L": "real"}],
    "counts": [frozenset(), frozenset({"T"}), frozenset({"T", "mu"})],
    "conditions": [(), ((L, ">=", mu),), ((L, ">", mu),), ((mu, ">=", L),), ((number(1), ">=", mu),),
                   ((mu, "=", 2 * L), (L, ">", mu))],
    "answers": ["own", "inexact", "error"],
    "gradient_steps": [{}, {"steps": L, "stepsize": mu}, {"steps": mu, "stepsize": L}],
    "draws": [DrawScheme(), DrawScheme("uniform", L, mu), DrawScheme("uniform", mu, L), DrawScheme("independent", L)],
    "example": [{}, {"L": Fraction(1)}, {"L": Fraction(2)}, {"mu": Fraction(1)}],
}  # fmt: skip


def values_of(name: str, hint: Any) -> list[Any]:
    """Values of a field: those above, or any of its type, so that a new field is tried as well."""
    if name in OF_FIELD:
        return OF_FIELD[name]
    if hint is bool:
        return [False, True]
    if hint is Number:
        return NUMBERS
    if get_origin(hint) in (Union, UnionType):
        return [v for inside in get_args(hint) for v in ([None] if inside is type(None) else values_of(name, inside))]
    if get_origin(hint) is tuple:
        first, second = (values_of(name, inside) for inside in get_args(hint))
        return [(p, q) for p in first for q in second]
    raise AssertionError(f"give values of {name}: {hint}")


HINTS = get_type_hints(ClaimSetting)  # a method comes with its parameters
FIELDS = {name: values_of(name, hint) for name, hint in HINTS.items() if name != "method_parameters"}


def made(values: dict[str, Any]) -> ClaimSetting | None:
    try:
        return ClaimSetting(**{**values, "method": "", **values.get("method", {})})
    except IllFormed:  # fields that do not fit each other
        return None


def told(of: ClaimSetting) -> tuple[str, str]:
    """The text, and all that is assumed in it: an example is no assumption."""
    return str(of), "; ".join(phrases(of, Display.standard({"L", "mu", "T"})))


def differ(one: ClaimSetting, other: ClaimSetting) -> bool:
    (text, assumed), (another, other_assumed) = told(one), told(other)
    return text != another and (assumed != other_assumed or replace(one, example={}) == replace(other, example={}))


@pytest.mark.parametrize("name", FIELDS)
def test_another_value_of_any_field_is_another_text(name: str) -> None:
    """Of each field alone, where the other fields are as in a few settings."""
    signs = dict.fromkeys(("L", "mu", "T"), "positive")
    others: list[dict[str, Any]] = [
        {}, {"method": running("FedProx", mu=number(1))}, {"answers": "inexact", "inexactness": L},
        {"answers": "error", "inexactness": mu},
        {"method": running("FedProx", mu=mu), "signs": signs},
    ]  # fmt: skip
    tried = 0
    for other in others:
        found = [s for v in FIELDS[name] if (s := made({**other, name: v})) is not None]
        texts = [told(s) for s in found]
        tried += len(found) > 1
        assert len({text for text, _ in texts}) == len(found)
        assert name == "example" or len({assumed for _, assumed in texts}) == len(found)
    assert tried


@st.composite
def settings_at_random(draw: Any) -> ClaimSetting | None:
    return made({name: draw(st.sampled_from(v)) for name, v in FIELDS.items() if draw(st.booleans())})


@given(settings_at_random(), settings_at_random())
def test_settings_that_differ_are_told_apart(one: ClaimSetting | None, other: ClaimSetting | None) -> None:
    if (
        one is not None
        and other is not None
        and one != other
        and one.counts <= one.signs.keys()
        and other.counts <= other.signs.keys()
    ):
        assert differ(one, other)
