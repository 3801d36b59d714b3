"""What a run on a network looks like: the objective and the measured constants after some of its rounds."""

from typing import TYPE_CHECKING

from fedconvex.deep.problem import training_of
from fedconvex.deep.round_settings import participation_of
from fedconvex.deep.runner import DeepRun
from fedconvex.deep.training_mode import WHY_OFF
from fedconvex.errors import short_text
from fedconvex.shown import Summary, drawn, number, some_of, summary_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes

SHOWN = ("value", "accuracy", "test_value", "test_accuracy", "dissimilarity", "smoothness")


@summary_of.register(DeepRun)
def summary(run: DeepRun) -> Summary:
    """The objective, the accuracy and the measured constants after some of the rounds."""
    known = [name for name in SHOWN if name in run.records[0]]
    kept = [run.records[i] for i in some_of(len(run.records), 12)]
    ended: tuple[str, ...] = () if run.stopped is None else (f"stopped early: {run.stopped}",)
    if training_of(run.task.problem) is not None:
        ended = (*ended, WHY_OFF)
    return Summary(
        f"{short_text(run.simulator.rounds.method)}: {len(run.records) - 1} rounds",
        (
            ("participation", short_text(participation_of(run.simulator))),
            ("local solver", short_text(run.simulator.rounds.solver)),
        ),
        ("round", *known),
        tuple((str(record["round"]), *(number(record.get(name)) for name in known)) for record in kept),
        ended,
    )


@drawn.register(DeepRun)
def draw_objective(run: DeepRun, axes: "Axes") -> "Axes":
    """Draw the objective over the rounds; returns Matplotlib's axes."""
    from fedconvex.drawing import finished
    from fedconvex.safe_text import in_picture

    seen = run.to_frame()[["round", "value"]].dropna()
    axes.plot(seen["round"].to_numpy(), seen["value"].to_numpy(), linewidth=1.8, marker="o")
    title = in_picture(short_text(run.simulator.rounds.method), 70)
    return finished(axes, "communication rounds", "objective", title)
