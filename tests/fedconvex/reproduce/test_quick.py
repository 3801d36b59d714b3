"""The reduced version of every experiment that needs no files: all its results and a picture."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from fedconvex import reproduce
from fedconvex.reproduce.inputs import missing
from fedconvex.reproduce.pipeline import run_experiment
from fedconvex.reproduce.specification import experiments
from fedconvex.reproduce.summary import REPRODUCED

pytestmark = pytest.mark.beyond_core  # trains networks

CODE = Path(reproduce.__file__).parent
QUICK = {key: e for key, e in experiments(quick=True).items() if missing(e, None) is None}
BY_DEFAULT = {"fedsplit.figure2a", "feddyn.figure2", "feddyn.figure3", "fedprox.other_claims"}  # one of each runner
CASES = [pytest.param(key, marks=[] if key in BY_DEFAULT else pytest.mark.slow) for key in QUICK]


def gaps(summary: dict[str, Any]) -> list[str]:
    """What should be there and is not: our own numbers, and on what a verdict rests."""
    numbers = [row["what"] for row in summary["numbers"] if row["ours"] is None]
    return numbers + [claim["claim"] for claim in summary["claims"] if not claim["number"]]


@pytest.mark.sample(2)
@pytest.mark.parametrize("key", CASES)
def test_it_ends_with_everything_and_is_read_from_then_on(
    key: str, tmp_path: Path, played: list[int], tried_before: Callable[..., bool]
) -> None:
    """Of those that do not run by default, where an experiment's file or what runs experiments has changed."""
    experiment = QUICK[key]
    of_paper = sorted((CODE / "experiments" / experiment.paper).glob("*.toml"))
    texts = [file.read_text("utf-8") for file in (*sorted(CODE.glob("*.py")), *of_paper)]
    if key not in BY_DEFAULT and tried_before(*texts):
        return
    summary, files = run_experiment(experiment, tmp_path, jobs=1)
    # fixed points confirm themselves by single rounds, each the first: later ones are those of runs
    assert any(played) == (experiment.runner in ("sweep", "deep"))
    assert gaps(summary) == []
    assert len(summary["numbers"]) == len(experiment.numbers)
    assert len(summary["claims"]) == len(experiment.claims)
    has_picture = experiment.figure.get("kind", "none") != "none"
    assert [file.name for file in files] == ["summary.json", *(["figure.png", "figure.svg"] if has_picture else [])]
    assert all(file.stat().st_size for file in files)
    played.clear()
    again, _ = run_experiment(experiment, tmp_path, jobs=1)
    assert not any(played)
    assert {**again, "date": ""} == {**summary, "date": ""}


def test_what_is_missing_would_be_noticed() -> None:
    summary = {
        "numbers": [{"what": "rounds", "ours": None}, {"what": "never", "ours": "not reached"}],
        "claims": [{"claim": "fast", "number": "", "verdict": REPRODUCED}, {"claim": "slow", "number": "1 < 2"}],
    }
    assert gaps(summary) == ["rounds", "fast"]


def test_an_experiment_of_every_runner_runs_by_default() -> None:
    assert set(QUICK) >= BY_DEFAULT
    assert {QUICK[key].runner for key in BY_DEFAULT} == {e.runner for e in QUICK.values()}
