"""Every formula against the same formula transcribed independently in mpmath, to 30 digits and more."""

from typing import Any

import flint
import mpmath
import pytest
import reference_classics
import reference_feddyn
import reference_fedprox
import reference_fedsplit
from problem_makers import real
from statement_makers import arguments, ball, calculators, each

from fedconvex import theory
from fedconvex.statements.results import parts

# The papers that are transcribed whole; of the others, some formulas are in reference_classics.
WHOLE = {"fedprox": reference_fedprox, "fedsplit": reference_fedsplit, "feddyn": reference_feddyn}
REFERENCES: dict[str, Any] = {}
for paper, module in [*WHOLE.items(), *((name, reference_classics) for name in theory.paper_names())]:
    for name, function in vars(module).items():
        if callable(function) and (paper in WHOLE or name.startswith(f"{paper}_")):
            REFERENCES[f"{paper}.{name.removeprefix(f'{paper}_').replace('_left', '.left')}"] = function

# Where the transcription calls a quantity by another name than the calculator.
RENAMED = {
    "gradient_square": "gradient", "gradient_square_next": "gradient_next", "square": "distance", "C_next": "C",
    "A_next": "A", "point": "points",
}  # fmt: skip
# Matrices: see test_closed_forms. A transcription that means something else by the name.
ELSEWHERE = {
    *(f"fedsplit.{name}" for name in ("equation8", "equation9", "equation10", "fedprox_fixed_point", "proposition3"))
}
DIGITS = 60
FORMULAS = calculators()
COMPARED = sorted((REFERENCES.keys() & FORMULAS.keys()) - ELSEWHERE)


def call(reference: Any, values: dict[str, Any]) -> Any:
    """The transcription at these values, by its own names."""
    import inspect

    wanted = inspect.signature(reference).parameters
    return reference(
        **{name if name in wanted else RENAMED[name]: v for name, v in values.items() if _wanted(name, wanted)}
    )


def _wanted(name: str, wanted: Any) -> bool:
    return name in wanted or RENAMED.get(name) in wanted


def agree(ball: Any, expected: Any) -> bool:
    """Whether both are the same number to 30 digits (of the larger, or of 1 where that is less)."""
    difference = abs(mpmath.mpf(ball.mid().str(DIGITS, radius=False)) - expected)
    return bool(difference <= mpmath.mpf(10) ** -30 * max(1, abs(expected)))


def evaluate(calculator: Any, values: dict[str, Any]) -> list[Any]:
    with flint.ctx.workprec(4 * DIGITS):
        return [flint.arb(part) for part in parts(calculator(**each(values, ball)))]


@pytest.mark.parametrize("name", COMPARED)
@pytest.mark.parametrize("seed", range(5))
def test_formula_agrees_with_the_transcription(name: str, seed: int) -> None:
    values = arguments(FORMULAS[name], seed)
    with mpmath.workdps(DIGITS):
        expected = call(REFERENCES[name], each(values, real))
        expected = list(expected) if isinstance(expected, tuple | list) else [expected]
        computed = evaluate(FORMULAS[name], values)
        assert len(computed) == len(expected)
        for ball, number in zip(computed, expected, strict=True):
            assert agree(ball, number), (ball, number)


def test_every_statement_has_a_transcription() -> None:
    assert {s.identifier for name in WHOLE for s in theory.papers()[name]} <= REFERENCES.keys()


@pytest.mark.parametrize("name", ["fedprox.theorem4", "feddyn.lemma8", "fedsplit.equation16"])
def test_a_wrong_digit_is_noticed(name: str) -> None:
    values = arguments(FORMULAS[name], 0)
    with mpmath.workdps(DIGITS):
        expected = call(REFERENCES[name], each(values, real))
        ball = evaluate(FORMULAS[name], values)[0]
        assert agree(ball, expected)
        assert not agree(ball, expected + mpmath.mpf(10) ** -29 * max(1, abs(expected)))


def test_pages() -> None:
    pages = {f"feddyn.{name}": page for page, names in reference_feddyn.PAGES.items() for name in names.split()}
    assert {s.identifier: s.page for s in theory.papers()["feddyn"]} == pages
