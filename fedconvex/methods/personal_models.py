"""Methods with a personal model for every client: Ditto and pFedMe."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import ClassVar, final

import numpy as np

from fedconvex.arithmetic.rationals import Array, Scalar
from fedconvex.errors import InvalidInput
from fedconvex.local_solvers.base import Answers
from fedconvex.methods.averaging import Averaging
from fedconvex.methods.base import Cohort, SolvesExactly, State, TakesLocalSteps
from fedconvex.parameters import number
from fedconvex.problems.subproblem import Subproblem
from fedconvex.step_numbers import RandomNumberOfSteps, numbers_of_steps
from fedconvex.stepsizes import stepsize
from fedconvex.validation import non_negative, positive


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


@final
@dataclass(frozen=True, kw_only=True)
class PFedMe(SolvesExactly):
    """pFedMe: R steps w_k ← w_k − ηλ(w_k − v_k) from w, then w ← w + β·mean(w_k − w).

    In every step v_k ≈ argmin_v F_k(v) + (λ/2)‖v − w_k‖²; ηλ(w_k − v_k) is a gradient step of size η on the Moreau
    envelope of F_k. Use it where every client may have a model of its own: the v_k, `state.memory["personal"]` of a
    run.

    Fixed points: with one local step (R = 1) w = mean v_k, FedProx's fixed point for μ = λ, for every η and β; it
    minimises the mean of the envelopes, and not f. With R > 1 the local steps bias it further, as FedGD's do. On
    quadratics `fixed_point` computes it exactly, and v_k = (H_k + λI)⁻¹(c_k + λw) for R = 1.

    Source: Dinh, Tran and Nguyen (2020), Algorithm 1, with exact or inexact proximal points; inexact ones start at the
    last v_k of the round, at first at w. The paper minimises the plain mean of the clients' functions: on a weighted
    problem client k contributes F_k = num_clients · weights[k] · f_k, and averages are plain. As client models a
    conformance check takes the v_k.

    Args:
        regularization: λ > 0; for nonconvex clients larger than −mu_k.
        stepsize: η > 0 or a `StepsizeSchedule`; ηλ = 1 sets w_k to v_k.
        local_steps: R, an integer >= 1; or one for every client, such as (3, 1, 5).
        server_stepsize: β > 0 or a `StepsizeSchedule`.

    Raises:
        InvalidInput: values out of range.
    """

    regularization: Scalar = number()
    stepsize: Scalar = number()
    local_steps: int | Sequence[int] = 1
    server_stepsize: Scalar = number(default=1)

    plain: ClassVar[bool] = True
    personal: ClassVar[str | None] = "personal"

    def __post_init__(self) -> None:
        positive(self.regularization, "regularization")
        object.__setattr__(self, "stepsize", stepsize(self.stepsize))
        object.__setattr__(self, "server_stepsize", stepsize(self.server_stepsize, "server_stepsize"))
        object.__setattr__(self, "local_steps", numbers_of_steps(self.local_steps, "local_steps"))
        if isinstance(self.local_steps, RandomNumberOfSteps):
            problem = "draws the local steps, whose number decides which local problems follow in a round"
            raise InvalidInput("local_steps", self.local_steps, problem, "give one number, or one for every client")

    @property
    def proximal_weight(self) -> Scalar:
        return self.regularization

    def initial_state(self, server: Array, repeat: Callable[[Array], Array]) -> State:
        return State(server, memory={"personal": repeat(server)})

    def subproblem(self, state: State, cohort: Cohort) -> Subproblem:
        return self._around(cohort.points, cohort.points)

    def update(self, state: State, cohort: Cohort, answers: Answers) -> State:
        local, personal = cohort.points, answers.points
        unequal = isinstance(self.local_steps, tuple)
        own = np.array(self.local_steps)
        for step in range(int(own.max())):
            found = cohort.solve(self._around(local, personal)) if step > 0 else personal
            moved = local - self.stepsize * self.regularization * (local - found)
            if unequal:  # clients that have taken their steps keep their points while the others continue
                found, moved = cohort.where(own > step, found, personal), cohort.where(own > step, moved, local)
            local, personal = moved, found
        server = state.server + self.server_stepsize * cohort.average(local - cohort.points)
        return State(server, memory={"personal": personal})

    def _around(self, local: Array, start: Array) -> Subproblem:
        return Subproblem(start=start, weight=self.regularization, center=local)
