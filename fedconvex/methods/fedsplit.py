"""FedSplit(s): Peaceman–Rachford splitting between the clients' functions and their agreement."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar, Literal, final

from fedconvex.arithmetic.rationals import Array, Scalar
from fedconvex.errors import InvalidInput
from fedconvex.local_solvers.base import Answers, LocalSolver
from fedconvex.local_solvers.exact import Exact
from fedconvex.methods.base import Cohort, Method, State
from fedconvex.parameters import number
from fedconvex.problems.subproblem import Subproblem
from fedconvex.validation import positive


@final
@dataclass(frozen=True, kw_only=True)
class FedSplit(Method):
    """z_k ← z_k + 2(prox_{sF_k}(2x − z_k) − x), x ← mean z_k. FedSplit paper, Algorithm 1.

    The paper minimises the plain sum of the clients' functions; on a weighted problem client k contributes
    F_k = num_clients · weights[k] · f_k, so that uniform weights give the paper's method.
    With exact proximal steps the fixed points are the stationary points of the objective (Proposition 3).

    **Inexact local work.** The paper starts the local steps at the centre of the proximal term, 2x − z_k (Corollary 1).
    At the solution that is not where they should end, so any fixed number of steps leaves an error: the fixed point is
    wrong, by an amount that falls geometrically with the number of steps. At the solution the answer is x itself, and
    it is also the client's last answer: started at the server's point or at the last answer, gradient steps find it
    already solved, and the fixed points are right with any number of steps. `start="server"` or `"warm"` is therefore
    what to use; `"center"` is what the paper analyses.

    **Some clients only.** The FedDyn paper (section A.4) lets the others keep their z_k and gives two rules for the
    server: the mean of all clients' z_k, or of the active ones'. The first is slow, the second has no known theory.

    On convex quadratics with a unique minimiser the server's point converges to it from everywhere: the lifted map is
    z ↦ RCz with the orthogonal reflection C = 2·mean − I and R = 2(I + sH)⁻¹ − I, a symmetric contraction that keeps
    the length of a vector only on the clients' kernels. A z whose length is never reduced therefore has its mean in
    the kernel of every H_k, which is {0} when the minimiser is unique; its server point is 0. On smooth strongly convex
    clients R is a contraction (Theorem 1 for the best stepsize; Giselsson and Boyd for every stepsize > 0).

    Args:
        stepsize: s > 0; s = 1/√(ℓ_* L^*) gives the contraction of Theorem 1.
        start: where inexact local solvers begin: "center" (2x − z_k), "server" (x) or "warm" (the last answer, first
            x); exact ones give the same answer from anywhere.
        server: "all" or "active", whose mean z_k is the server's point; the same with everyone.
    """

    stepsize: Scalar = number()
    start: Literal["center", "server", "warm"] = "center"
    server: Literal["all", "active"] = "all"

    plain: ClassVar[bool] = True
    stationary: ClassVar[bool] = True
    converges_on_convex_quadratics: ClassVar[bool] = True
    converges_on_strongly_convex: ClassVar[bool] = True

    def __post_init__(self) -> None:
        positive(self.stepsize, "stepsize")
        if self.start not in ("center", "server", "warm"):
            raise InvalidInput("start", self.start, "is unknown", "give 'center', 'server' or 'warm'")
        if self.server not in ("all", "active"):
            raise InvalidInput("server", self.server, "is unknown", "give 'all' or 'active'")

    @property
    def local_solver(self) -> LocalSolver:
        return Exact()

    @property
    def proximal_weight(self) -> Scalar:
        return 1 / self.stepsize

    @property
    def stationary_inexactly(self) -> bool:
        """Constant z_k: θ_k = x. Only where that is also the start is it solved: ∇F_k(x) = (x − z_k)/s, of mean 0."""
        return self.start != "center"

    def initial_state(self, server: Array, repeat: Callable[[Array], Array]) -> State:
        memory = {"z": repeat(server)}
        return State(server, memory={**memory, "answer": repeat(server)} if self.start == "warm" else memory)

    def subproblem(self, state: State, cohort: Cohort) -> Subproblem:
        center = 2 * cohort.points - state.memory["z"]
        start = {"center": center, "server": cohort.points, "warm": state.memory.get("answer")}[self.start]
        return Subproblem(start=start, weight=self.proximal_weight, center=center, guess=cohort.points)

    def update(self, state: State, cohort: Cohort, answers: Answers) -> State:
        before = state.memory["z"]
        z = before + 2 * (answers.points - cohort.points)
        server = cohort.updated_mean(state.server, before, z) if self.server == "all" else cohort.average(z)
        memory = {"z": z, "answer": answers.points} if self.start == "warm" else {"z": z}
        return State(server, memory=memory)
