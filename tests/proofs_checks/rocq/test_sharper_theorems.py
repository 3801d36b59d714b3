"""Our sharper forms of FedDyn's and FedProx's theorems, and Theorem 1 with its constant: long formulas, many cases.

The proof of a theorem by cases is checked in a file of its own, with the accepted theorems of its cases.
"""

from dataclasses import replace
from pathlib import Path

import pytest

from fedconvex.claims.terms import Number, Vector, inner, number, parameter
from fedconvex.proofs_checks.kernel.parameters import SettingParameters
from fedconvex.proofs_checks.kernel.scalars import Refused
from fedconvex.proofs_checks.rocq import substitutions
from fedconvex.proofs_checks.rocq.cited_claims import InCase, pinned
from fedconvex.proofs_checks.rocq.compiling import Rocq
from fedconvex.proofs_checks.rocq.files import Exported, exported
from fedconvex.proofs_checks.rocq.steps import with_forms
from fedconvex.theory import statement

from .theorem_folders import WITH_ROCQ, on_standard_axioms, refuses, theorem_of

NAMES = (
    "feddyn.lemma8sharper", "feddyn.theorem2sharper", "feddyn.theorem3sharper", "feddyn.theorem1stronglyconvex",
    "fedprox.remark8sharper",
)  # fmt: skip
# Changes of a theorem itself: its claim, and what it assumes.
MUTANTS = (
    ("feddyn.lemma8sharper", "(1 - 4 * mu / alpha) *", "(1 - 3 * mu / alpha) *"),
    ("feddyn.lemma8sharper", "(30 * L <= alpha) ->", "(29 * L <= alpha) ->"),
    ("feddyn.lemma8sharper", "(1 + mu / alpha) * (inner", "(1 + 2 * mu / alpha) * (inner"),
    ("feddyn.theorem2sharper", "/ ((2 / alpha) * T).", "/ ((3 / alpha) * T)."),
    ("feddyn.theorem2sharper", "(Rmax (num_clients - 1) 1)", "(Rmax (num_clients - 1) 2)"),
    ("feddyn.theorem2sharper", "((now h nil) = (0 * (now w nil))%V) ->", "((now h nil) = (1 * (now w nil))%V) ->"),
    ("feddyn.theorem3sharper", "(1 - 4 * mu / alpha) *", "(1 + 4 * mu / alpha) *"),
    ("feddyn.theorem3sharper", "^ rounds - 1)", "^ (rounds + 1) - 1)"),
    ("feddyn.theorem1stronglyconvex", "<= 1240 * (((Rmax", "<= 1239 * (((Rmax"),
    ("feddyn.theorem1stronglyconvex", "(30 * L) = alpha) ->", "(29 * L) = alpha) ->"),
    ("fedprox.remark8sharper", "/ (T) <= epsilon.", "/ (T) <= epsilon / 2."),
    ("fedprox.remark8sharper", "((4 * L * delta / epsilon) *", "((3 * L * delta / epsilon) *"),
    ("fedprox.remark8sharper", "(4 * (sqrt (1 + sigma2 / epsilon)) <= K) ->",
     "(3 * (sqrt (1 + sigma2 / epsilon)) <= K) ->"),
)  # fmt: skip
# Changes of the proof of a case, where it stands first: a multiplier, and a coefficient of a quadratic form.
IN_PROOFS = (
    ("feddyn.lemma8sharper", "case_2", "apply (by_identity _ _ (((2 / alpha) * 1) *",
     "apply (by_identity _ _ (((3 / alpha) * 1) *"),
    ("feddyn.lemma8sharper", "case_2", "* alpha * (mu ^ 2) + alpha * (mu ^ 3)) / 1) / alpha) / alpha) / L) / L) *",
     "* alpha * (mu ^ 2) + alpha * (mu ^ 3)) / 2) / alpha) / alpha) / L) / L) *"),
    ("feddyn.theorem2sharper", "case_2_round_1", "Rmax (1 - 1) 1) with (1)", "Rmax (1 - 1) 1) with (2)"),
)  # fmt: skip
WRONG_FORM = """From Coq Require Import Reals Lra Psatz.
From FedConvex Require Import Spaces Forms.
Open Scope R_scope.
Lemma without_the_discriminant {F : space} (u v : F) a b d : 0 <= a -> 0 <= d ->
  0 <= a * inner u u + 2 * b * inner u v + d * inner v v.
Proof. intros. apply form_nonneg; first [assumption | nra]. Qed.
"""


def alone(identifier: str, case: str = "") -> str:
    """One theorem of the statement's file, the last one or that of a case, which takes all lemmas from the file."""
    of = exported(statement(identifier))
    name = f"Theorem {of.module}{f'_{case}' if case else ''} :"
    before, _, after = of.text.rpartition(name)
    head = before[: min(p for word in ("\nLemma ", "\nTheorem ") if (p := before.find(word)) >= 0)]
    proof = after.partition("\nQed.")[0]
    return f"{head}\nFrom Statements Require Import {Exported(identifier).module}.\n\n{name}{proof}\nQed.\n"


# ---- what is written


@pytest.mark.slow
def test_a_case_with_one_client_cites_the_theorem_about_any_number() -> None:
    """Its number of clients is 1, and maxima are decided; the theorem itself has them, and each hypothesis once."""
    text, theorem = exported(statement("feddyn.theorem2sharper")).text, theorem_of("feddyn.theorem2sharper")
    assert "replace (Rmax (1 - 1) 1) with (1) in claimed" in text
    assert "replace (Rmax (num_clients - 1) 1) with (num_clients - 1) in claimed" in text
    assert "draw_without_replacement W C 1 1," in text
    assert "draw_without_replacement W C num_active num_clients," in theorem
    assert "((1 / 1) * mean_of_drawn" not in theorem
    assert theorem.count("(next w past) = ") == 1
    assert "(Rmax (num_clients - 1) 1)" in theorem


@pytest.mark.slow
def test_squares_with_a_long_divisor_are_a_form_without_it() -> None:
    text = exported(statement("feddyn.lemma8sharper")).text
    assert text.count("apply form_nonneg") == 4
    assert "From FedConvex Require Import Forms.\n" in text
    assert "Forms" not in exported(statement("feddyn.lemma8")).text


def test_two_squares_are_the_form_that_they_came_from() -> None:
    """a‖u + t·v‖² + e‖v‖² with t = b/a and e = d − b²/a, of which only a long divisor a is put away."""
    of = statement("feddyn.lemma8sharper")
    parameters = SettingParameters(of.setting, [])
    L, mu, alpha = map(parameter, ("L", "mu", "alpha"))
    u, v = (Vector("free", (name,)) for name in "uv")
    b, d = alpha * mu, L * alpha
    short, long = L + mu, (L + mu) ** 3 * (L**2 + alpha * mu) + alpha**4 * (alpha + L)
    for a, found in ((short, 0), (long, 1)):
        t = b / a
        squares: list[tuple[Number, Vector]] = [(mu, u), (a, u + t * v), (d - b**2 / a, v)]
        left, forms = with_forms(squares, parameters)
        assert len(forms) == found
        assert left == (squares[:1] if found else squares)
        for form in forms:
            value = parameters.value
            assert [value(x) for x in (form.a, form.b, form.d)] == [value(x) for x in (a, b, d)]
            assert value(form.signs[2]) == value(a * d - b**2)
            assert form.difference == form.a * inner(u, u) + number(2) * form.b * inner(u, v) + form.d * inner(v, v)
    twice = [(long, u + b / long * v), (long, u - b / long * v), (long, u + 2 * b / long * v), (d - b**2 / long, v)]
    left, forms = with_forms(twice, parameters)  # one square of v is a part of one form
    assert (left, len(forms)) == (twice[1:3], 1)
    # another vector v, or none
    assert with_forms([(long, u + b / long * v), (mu, u)], parameters)[1] == []


def test_integers_are_one_only_where_the_setting_says_so() -> None:
    cited = statement("feddyn.lemma1sharper").setting
    ones = replace(cited, draws=replace(cited.draws, active=number(1), clients=number(1)))
    assert pinned(cited, ones) == {"num_active", "num_clients"}
    assert pinned(cited, cited) == frozenset()
    assert pinned(cited, replace(cited, draws=replace(cited.draws, active=number(2)))) == frozenset()


def test_a_maximum_is_decided_only_where_it_is_known() -> None:
    m = parameter("num_clients")
    setting = statement("feddyn.lemma1sharper").setting
    more = replace(setting, conditions=(*setting.conditions, (m, ">=", number(2))))
    largest = number(1).max(m - 1)
    undecided = InCase(SettingParameters(setting, []), frozenset())
    assert (undecided.decided(largest), undecided.maxima) == (largest, {})
    above = InCase(SettingParameters(more, []), frozenset())
    assert (above.decided(2 * largest), above.maxima) == (2 * (m - 1), {largest: False})
    one = InCase(SettingParameters(setting, []), frozenset({"num_clients"}))
    assert one.decided(one.said(largest)) == number(1)


def test_an_order_of_too_many_terms_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """Not the sign: another order may show it, and where none does it is not shown."""
    parameters = SettingParameters(statement("feddyn.lemma8").setting, [])
    positive = parameters.value(parameter("alpha") - parameter("L"))
    field = parameters.field

    def refused(value: object) -> bool:
        raise Refused("a power with too many terms")

    monkeypatch.setattr(type(field), "is_positive", lambda self, value: refused(value))
    assert substitutions.is_positive(field, positive)
    assert not substitutions.is_positive(field, -positive)
    assert not substitutions.is_positive(field, parameters.value(parameter("mu") - parameter("L")))


def test_the_roots_of_multipliers_are_those_of_the_proof() -> None:
    """Not the kernel's symbols for them."""
    text = exported(statement("fedprox.remark8sharper")).text
    assert "√" not in text
    theorem = theorem_of("fedprox.remark8sharper")
    assert "(4 * (sqrt (1 + sigma2 / epsilon)) <= K) ->" in theorem
    assert theorem.rstrip().endswith("/ (T) <= epsilon.")


# ---- with Rocq


@pytest.fixture(scope="module")
def folder(rocq: Rocq, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return on_standard_axioms(rocq, tmp_path_factory.mktemp("rocq") / "theories", NAMES)


@pytest.mark.parametrize("identifier", [pytest.param(name, marks=WITH_ROCQ) for name in NAMES])
def test_a_theorem_alone_is_accepted(rocq: Rocq, folder: Path, identifier: str) -> None:
    """So that a change of it is what Rocq refuses below."""
    assert not refuses(rocq, folder, alone(identifier))


@pytest.mark.parametrize(("identifier", "old", "new"), [pytest.param(*mutant, marks=WITH_ROCQ) for mutant in MUTANTS])
def test_a_mutant_is_refused(rocq: Rocq, folder: Path, identifier: str, old: str, new: str) -> None:
    text = alone(identifier)
    claimed, proof = text.split("Proof.", 1)
    assert old in claimed
    assert refuses(rocq, folder, f"{new.join(claimed.rsplit(old, 1))}Proof.{proof}")


@pytest.mark.parametrize(
    ("identifier", "case", "old", "new"), [pytest.param(*mutant, marks=WITH_ROCQ) for mutant in IN_PROOFS]
)
def test_a_mutant_of_a_proof_is_refused(
    rocq: Rocq, folder: Path, identifier: str, case: str, old: str, new: str
) -> None:
    text = alone(identifier, case)
    claimed, proof = text.split("Proof.", 1)
    assert old in proof
    assert refuses(rocq, folder, f"{claimed}Proof.{proof.replace(old, new, 1)}")


@pytest.mark.parametrize("text", [pytest.param(WRONG_FORM, marks=WITH_ROCQ)])
def test_a_form_needs_its_discriminant(rocq: Rocq, folder: Path, text: str) -> None:
    assert refuses(rocq, folder, text)
    right = text.replace("0 <= d ->", "0 <= d -> b ^ 2 <= a * d ->")
    assert not refuses(rocq, folder, right)
