"""FedADMM: consensus ADMM in which the server adds up the participants' changes."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar, final

from fedconvex.arithmetic.rationals import Array, Scalar
from fedconvex.local_solvers.base import Answers
from fedconvex.methods.base import Cohort, SolvesExactly, State
from fedconvex.parameters import number
from fedconvex.problems.subproblem import Subproblem
from fedconvex.validation import positive


@final
@dataclass(frozen=True, kw_only=True)
class FedADMM(SolvesExactly):
    """FedADMM: θ_k ≈ argmin_θ F_k(θ) + ⟨y_k, θ⟩ + (ρ/2)‖θ − w‖², started at w; y_k⁺ = y_k + ρ(θ_k − w).

    With u_k = θ_k + y_k/ρ the server does w ← w + (η/|S|) Σ_{k∈S} (u_k⁺ − u_k); absent clients keep θ_k and y_k. At the
    start y_k = 0 and θ_k = w.

    Use it for heterogeneous clients of which few take part, with exact or inexact local work; it sends one vector each
    way. With full participation and η = 1 it equals FedPD without skipping (1/ρ for its η) and FedDyn (α = ρ,
    g_k = −y_k), where its convergence is proved; with partial participation it differs from both.

    Which η. w − (ηm/|S|) mean u_k never changes if the number |S| of participants is fixed. Only the default η = |S|/m
    makes w the mean of all clients' u_k, so that at rest mean y_k = 0: the stationary points of the objective. Another
    η rests where ∇f(w) = (1/c − 1)ρ (x⁽¹⁾ − w), with c = ηm/|S| and x⁽¹⁾ the start: for c < 1 pulled towards
    the start, for c > 1 pushed away from it.

    Source: Gong, Li and Freris (2022), Algorithm 1. The paper minimises the plain mean of the clients' functions: on
    a weighted problem client k contributes F_k = num_clients · weights[k] · f_k, and averages are plain. Their local
    work is SGD from w: pass `local_solver=SGD(…)`.

    Args:
        rho: ρ > 0; for nonconvex clients larger than −mu_k, so that the subproblems are convex.
        server_stepsize: η > 0; None: |S|/m in every round.

    Raises:
        InvalidInput: values out of range.
    """

    rho: Scalar = number()
    server_stepsize: Scalar = number(default=None)

    plain: ClassVar[bool] = True
    no_prox: ClassVar[str] = "its server adds changes to w, which would be the mean of the clients' u_k no longer"

    def __post_init__(self) -> None:
        positive(self.rho, "rho")
        if self.server_stepsize is not None:
            positive(self.server_stepsize, "server_stepsize")

    @property
    def proximal_weight(self) -> Scalar:
        return self.rho

    def initial_state(self, server: Array, repeat: Callable[[Array], Array]) -> State:
        return State(server, memory={"dual": repeat(0 * server), "answer": repeat(server)})

    def subproblem(self, state: State, cohort: Cohort) -> Subproblem:
        points = cohort.points
        return Subproblem(start=points, linear=state.memory["dual"], weight=self.rho, center=points)

    def update(self, state: State, cohort: Cohort, answers: Answers) -> State:
        step = answers.points - cohort.points
        change = answers.points - state.memory["answer"] + step  # u_k⁺ − u_k, as y_k⁺ − y_k = ρ(θ_k − w)
        dual = state.memory["dual"] + self.rho * step
        return State(state.server + self.moved(cohort, change), memory={"dual": dual, "answer": answers.points})

    def moved(self, cohort: Cohort, change: Array) -> Array:
        """By how much the server moves, (d,), given the participants' changes of u_k, (K, d)."""
        if self.server_stepsize is None:
            return cohort.population_mean(change)
        return self.server_stepsize * cohort.average(change)
