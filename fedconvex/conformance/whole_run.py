"""Check code that runs all rounds by itself, such as a `train()` with its own loop.

The author passes one function to `check`,

    run(problem, x0, rounds)

* `problem`, `x0`: as for `init` and `round`; `rounds`: a list with the list of active clients of every round.
* It returns the server's models after every round: T vectors, or T + 1 with x0 first; or only the last one, and then
  the kit runs the first round, the first two, and so on, each from the start.
* If it has arguments `local_steps` or `batches`, these are lists with an entry for every round, as for `round`.
"""

from collections.abc import Callable, Iterator, Sequence
from copy import deepcopy
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import Any, final

import numpy as np

from fedconvex.conformance import findings
from fedconvex.conformance.findings import ConformanceFinding
from fedconvex.conformance.implementation import Implementation, Turn, takes
from fedconvex.conformance.vectors import Unusable, is_composed


@dataclass(frozen=True, eq=False)
class Progress:
    """How far the kit has read a run's models."""

    turns: Sequence[Turn]
    x0: np.ndarray
    last: Any  # the model that was read last
    models: list[Any] | None = None  # after every round, where one call returned them all …
    final: Any = None  # … or else the model after the last round
    round: int = 0


@final
@dataclass(frozen=True, eq=False)
class WholeRun(Implementation):
    """A function that runs all rounds."""

    run: Callable[..., Any]
    found: list[ConformanceFinding] = field(default_factory=list)
    client_models: Callable[..., Any] | None = None

    def takes(self, name: str) -> bool:
        return takes(self.run, name)

    def begin(self, problem: Any, x0: np.ndarray, turns: Sequence[Turn]) -> Progress:
        progress = Progress(turns, x0.copy(), last=x0.copy())
        returned = self._run(problem, x0, turns)
        if _is_one_model(returned):
            return replace(progress, final=returned)
        models = list(islice(returned, len(turns) + 2))  # one more than there should be shows that there are more
        if len(models) == len(turns) + 1:
            progress, models = replace(progress, last=models[0]), models[1:]
        if len(models) != len(turns):
            cure = "return the server's model after every round, or only the last one"
            detail = f"{len(models)} models after {len(turns)} rounds"
            raise Unusable(ConformanceFinding(findings.MODELS_OF_RUN, cure, detail))
        return replace(progress, models=models)

    def advance(self, problem: Any, progress: Progress, turn: Turn) -> Progress:
        t = progress.round + 1
        if progress.models is not None:
            last = progress.models[progress.round]
        elif t == len(progress.turns):
            last = progress.final
        else:
            last = self._run(problem, progress.x0.copy(), progress.turns[:t])
        return replace(progress, last=last, round=t)

    def server_model(self, progress: Progress) -> Any:
        return progress.last

    def _run(self, problem: Any, x0: np.ndarray, turns: Sequence[Turn]) -> Any:
        names = turns[0].extra
        # copies: a run may work on these lists, and the next one is given them again
        extra = {name: deepcopy([turn.extra[name] for turn in turns]) for name in names}
        return self.run(problem, x0, [list(turn.active) for turn in turns], **extra)


def _is_one_model(returned: Any) -> bool:
    """Whether this is one model, not a sequence of them: a vector, a dict or a module."""
    if isinstance(returned, list | tuple):
        return all(np.ndim(part) == 0 and not is_composed(part) for part in returned)
    return is_composed(returned) or (np.ndim(returned) < 2 and not isinstance(returned, Iterator))
