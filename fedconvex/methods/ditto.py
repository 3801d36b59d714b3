"""Ditto: FedGD, and beside it one personal model for every client, pulled to the server's point."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar, final

from fedconvex.arithmetic.rationals import Array, Scalar
from fedconvex.local_solvers.base import Answers
from fedconvex.methods.averaging import Averaging
from fedconvex.methods.base import Cohort, State, TakesLocalSteps
from fedconvex.parameters import number
from fedconvex.problems.subproblem import Subproblem
from fedconvex.validation import non_negative


@final
@dataclass(frozen=True, kw_only=True)
class Ditto(TakesLocalSteps, Averaging):
    """Ditto: w ← Σ_k weights_k θ_k as FedGD; v_k ≈ argmin_v f_k(v) + (λ/2)‖v − w‖², started at the client's last v_k.

    Use it where every client may have a model of its own, between its local minimiser (λ = 0) and the common model
    (large λ). The personal models v_k never reach the server: its rounds, fixed points and bias are FedGD's. At rest at
    w, v_k is the proximal point argmin_v f_k(v) + (λ/2)‖v − w‖²; on quadratics (H_k + λI)⁻¹(c_k + λw).

    The v_k are `state.memory["personal"]` of a run, at first the server's point; absent clients keep theirs. The local
    solver does both kinds of local work: with `SGD`, on the same mini-batches.

    Source: Li, Hu, Beirami and Smith (2021), Algorithm 1, with FedGD as the solver of the global problem and w from the
    beginning of the round in the personal step. There the two kinds of work may have different stepsizes; here they
    have the same.

    Args:
        stepsize: s > 0 or a `StepsizeSchedule`, of the local gradient steps.
        local_steps: e, an integer >= 1; one for every client, such as (3, 1, 5); or a `RandomNumberOfSteps`.
        regularization: λ >= 0.

    Raises:
        InvalidInput: values out of range.
    """

    regularization: Scalar = number()

    no_prox: ClassVar[str] = "its personal models would not know of ψ"
    personal: ClassVar[str | None] = "personal"

    def __post_init__(self) -> None:
        super().__post_init__()
        non_negative(self.regularization, "regularization")

    def initial_state(self, server: Array, repeat: Callable[[Array], Array]) -> State:
        return State(server, memory={"personal": repeat(server)})

    def update(self, state: State, cohort: Cohort, answers: Answers) -> State:
        own = Subproblem(start=state.memory["personal"], weight=self.regularization, center=cohort.points)
        return State(cohort.average(answers.points), memory={"personal": cohort.solve(own)})
