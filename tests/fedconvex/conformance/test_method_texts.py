"""Methods from text: only the package's classes are called, with numbers and words."""

from fractions import Fraction

import pytest

import fedconvex as fc
from fedconvex.conformance.implementation_files import LONGEST_TEXT, method_from_text, solver_from_text
from fedconvex.errors import InvalidInput
from fedconvex.local_solvers import LOCAL_SOLVERS
from fedconvex.methods import METHODS

METHOD_TEXTS = {
    "FedDyn(alpha=0.1)": fc.FedDyn(alpha=0.1),
    "  FedProx( mu = 1/3 )": fc.FedProx(mu=1 / 3),
    "Scaffold(stepsize=1/8, local_steps=5, option=1)": fc.Scaffold(stepsize=0.125, local_steps=5, option=1),
    "FedSplit(stepsize=2, start='server')": fc.FedSplit(stepsize=2, start="server"),
    "FedGD(stepsize=1e-3)": fc.FedGD(stepsize=1e-3),
}
# each a program, or a part of one, that must not run
HOSTILE = [
    "__import__('os').system('touch owned')",
    "FedDyn(alpha=open('owned', 'w'))",
    "FedDyn.__init__.__globals__",
    "(lambda: FedDyn(alpha=1))()",
    "[FedDyn(alpha=1) for x in (1,)][0]",
    "FedDyn(alpha=(x := 1))",
    "FedDyn(**{'alpha': 1})",
    "FedDyn(alpha=f'{1}')",
    "FedDyn(alpha=True)",
    "FedDyn(alpha=1); 1",
    "FedDyn(alpha=9**9**9)",
    "FedDyn(alpha='a'*10000000000)",
    "FedDyn" + "(" * 500,
    "-" * 1500 + "1",
]


@pytest.mark.parametrize("text", METHOD_TEXTS)
def test_a_method(text: str) -> None:
    assert method_from_text(text) == METHOD_TEXTS[text]


def test_a_solver() -> None:
    found = solver_from_text("GradientDescent(steps=3, stepsize=1/4)")
    assert found == fc.GradientDescent(steps=3, stepsize=Fraction(1, 4))
    assert solver_from_text("Exact()") == fc.Exact()


@pytest.mark.parametrize("text", HOSTILE, ids=range(len(HOSTILE)))
def test_programs_are_refused_and_not_run(text: str, tmp_path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InvalidInput, match="method = "):
        method_from_text(text)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "text",
    ["", "FedDyn", "FedDyn()", "FedDyn(0.1)", "FedDyn(alpha=-1)", "FedDyn(beta=1)", "FedDin(alpha=1)", "3", "'FedDyn'",
     "Exact()", "FedDyn(alpha=1) < 2", "FedDyn(alpha=1) + 1", "FedDyn(alpha=\0)",
     "FedDyn(alpha=1" + " " * LONGEST_TEXT],
)  # fmt: skip
def test_other_texts_are_refused_with_an_example(text: str) -> None:
    with pytest.raises(InvalidInput, match=r"method = "):
        method_from_text(text)
    with pytest.raises(InvalidInput, match=r"local_solver = "):
        solver_from_text("FedDyn(alpha=1)" if "Exact" in text else text)


def test_names_of_classes_and_numbers_are_all_that_texts_reach() -> None:
    """A name that the text may call is a method or a local solver, and nothing else."""
    for name in ("open", "exec", "eval", "print", "Fraction", "fc", "METHODS"):
        with pytest.raises(InvalidInput, match=f"{name}.* is not known there"):
            method_from_text(f"{name}()")
    assert not METHODS.keys() & LOCAL_SOLVERS.keys()
