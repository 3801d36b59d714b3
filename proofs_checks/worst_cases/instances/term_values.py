"""The sides of a ratio of terms on a federation, evaluated by `claims.on_runs` on every path of draws, exactly."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

from fedconvex.arithmetic.rationals import to_fraction
from fedconvex.claims.on_runs.draw_dependence import DrawDependence
from fedconvex.claims.on_runs.evaluation import Path, StateOnPath, Values
from fedconvex.claims.on_runs.paths import Player, everywhere
from fedconvex.claims.terms import Number
from fedconvex.participation import Draw
from fedconvex.proofs_checks.worst_cases.questions.ratios import SUMS, Ratio
from fedconvex.proofs_checks.worst_cases.questions.terms import rounds_needed


def values_of(
    ratio: Ratio, rounds: int, player: Player, ways: Sequence[tuple[Fraction, Draw]], start: StateOnPath,
    lowest: Callable[[], Any],
) -> tuple[Fraction, Fraction]:  # fmt: skip
    """Numerator and denominator in expectation over the draws, from this start."""
    played = player.paths(start, everywhere(ways), 0, rounds_needed(ratio.sides, rounds))
    paths = [_over_rounds(path, rounds) if ratio.speaks_of(*SUMS) else _ends(path) for path in played]
    run = player.rounds
    values = Values(
        paths, run.clients, run.weights, run.arithmetic, {}, lowest, {}, DrawDependence(of_run=rounds > 1)
    )  # fmt: skip
    sides = [Number("expected", (side,)) for side in ratio.sides]  # kept, as `Values` knows terms by identity
    numerator, denominator = (to_fraction(values.of(side)) for side in sides)
    return numerator, denominator


def _ends(path: Path) -> Path:
    """Time 1 is after the last round."""
    if len(path.rounds) < 2:
        return path
    return replace(path, moments=(path.moments[0], path.moments[-1]), rounds=())


def _over_rounds(path: Path, rounds: int) -> Path:
    """Sums have as many addends as there are rounds, also where the last round does not matter to them."""
    return replace(path, rounds=path.rounds + path.rounds[-1:] * (rounds - len(path.rounds))) if path.rounds else (
        replace(path, rounds=(None,) * rounds)  # type: ignore[arg-type]
    )  # fmt: skip
