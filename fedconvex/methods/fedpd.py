"""FedPD(η): every client minimises its augmented Lagrangian of the constraint θ_k = w, a primal-dual method."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar, final

from fedconvex.arithmetic.rationals import Array, Scalar, to_fraction
from fedconvex.errors import InvalidInput
from fedconvex.local_solvers.base import Answers, LocalSolver
from fedconvex.methods.base import Cohort, SolvesExactly, State
from fedconvex.parameters import number
from fedconvex.problems.subproblem import Subproblem
from fedconvex.validation import positive


@final
@dataclass(frozen=True, kw_only=True)
class FedPD(SolvesExactly):
    """FedPD: primal-dual consensus, with rounds whose communication is skipped at random.

    θ_k ≈ argmin_θ F_k(θ) + ⟨λ_k, θ⟩ + ‖θ − a_k‖²/(2η), started at the client's last answer; λ_k ← λ_k + (θ_k − a_k)/η;
    a_k⁺ = θ_k + ηλ_k. With probability 1 − skip: w ← mean a_k⁺ and a_k ← w for all clients; otherwise a_k ← a_k⁺ and w
    stays.

    Without skipping, with full participation and exact local solutions, this is ADMM for the consensus problem and
    equals FedDyn with α = 1/η and g_k = −λ_k round by round; its convergence is proved there (see `FedDyn`, which also
    allows partial participation). Skipping saves communication if the clients are similar. On heterogeneous clients
    each local round is a proximal step towards the client's own minimiser, and w keeps an error.

    Source: Zhang, Hong, Dhople, Yin and Liu (2020), Algorithm 1, with their p as `skip`; at the start λ_k = 0, a_k = w.
    The paper minimises the plain mean of the clients' functions: on a weighted problem client k contributes
    F_k = num_clients · weights[k] · f_k, and averages are plain.

    Args:
        eta: η > 0; for nonconvex clients 1/η larger than −mu_k, so that the subproblems are convex.
        skip: in [0, 1), the probability of a local round; with skip > 0 all clients must take part, as in the paper.

    Raises:
        InvalidInput: values out of range; partial participation with skip > 0 (when a run starts).
    """

    eta: Scalar = number()
    skip: Scalar = 0

    plain: ClassVar[bool] = True
    no_prox: ClassVar[str] = ""

    def __post_init__(self) -> None:
        positive(self.eta, "eta")
        if not 0 <= to_fraction(self.skip, "skip") < 1:
            raise InvalidInput("skip", self.skip, "is not a probability below 1", "give 0 <= skip < 1")

    @property
    def needs_everyone(self) -> bool:
        return bool(self.skip != 0)

    @property
    def proximal_weight(self) -> Scalar:
        return 1 / self.eta

    def prox_stepsize(self, cohort: Cohort, answers: Answers) -> Scalar:
        """η, as in FedDyn with α = 1/η."""
        return self.eta

    def require_prox(self, local_solver: LocalSolver) -> None:
        if self.skip != 0:
            problem = "with skip > 0 starts local rounds at points that the proximal step does not reach"
            raise InvalidInput("method", self, problem, "give skip=0 for composite objectives")

    def initial_state(self, server: Array, repeat: Callable[[Array], Array]) -> State:
        return State(server, memory={"dual": repeat(0 * server), "answer": repeat(server), "anchor": repeat(server)})

    def subproblem(self, state: State, cohort: Cohort) -> Subproblem:
        anchor = self._anchor(state, cohort)
        memory = state.memory
        return Subproblem(start=memory["answer"], linear=memory["dual"], weight=1 / self.eta, center=anchor)

    def update(self, state: State, cohort: Cohort, answers: Answers) -> State:
        dual = state.memory["dual"] + (answers.points - self._anchor(state, cohort)) / self.eta
        proposed = answers.points + self.eta * dual
        server = cohort.average(proposed) if cohort.communicates else state.server
        # + 0 * proposed repeats the server's point for every client
        anchor = server + 0 * proposed if cohort.communicates else proposed
        return State(server, memory={"dual": dual, "answer": answers.points, "anchor": anchor})

    def _anchor(self, state: State, cohort: Cohort) -> Array:
        """a_k, (K, d): the server's point unless the last round was local."""
        return cohort.points if self.skip == 0 else state.memory["anchor"]
