"""FedDyn(α): every client subtracts its own last gradient as a linear term, the server corrects for their mean."""

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar, final

from fedconvex.arithmetic.rationals import Array, Scalar
from fedconvex.local_solvers.base import Answers, LocalSolver
from fedconvex.local_solvers.gradient_descent import GradientDescent
from fedconvex.methods.base import Cohort, Method, SolvesExactly, State
from fedconvex.parameters import number
from fedconvex.problems.subproblem import Subproblem
from fedconvex.validation import positive


@dataclass(frozen=True, kw_only=True)
class DynamicRegularization(Method):
    """The updates that FedDyn and FedDynOneGD share; their local solvers differ.

    θ_k ≈ argmin_θ F_k(θ) − ⟨g_k, θ⟩ + (α/2)‖θ − w‖², started at w, and g_k ← g_k − α(θ_k − w) for the participants;
    h ← h − (α/m) Σ_k (θ_k − w); w ← mean of the participants' θ_k − h/α. At the start g_k = 0 and h = 0, so that h is
    always the mean of all m clients' g_k.

    The paper minimises the plain mean of the clients' functions (its 1/m): on a weighted problem client k contributes
    F_k = num_clients · weights[k] · f_k, and averages are plain.
    """

    alpha: Scalar = number()

    plain: ClassVar[bool] = True
    control_variate: ClassVar[str | None] = "gradient"
    no_prox: ClassVar[str] = ""

    def __post_init__(self) -> None:
        positive(self.alpha, "alpha")

    @property
    def proximal_weight(self) -> Scalar:
        return self.alpha

    def prox_stepsize(self, cohort: Cohort, answers: Answers) -> Scalar:
        """1/α: the server's step of consensus ADMM with the term ψ, argmin_w ψ(w) + (α/2)‖w − (mean θ_k − h/α)‖².

        At a fixed point θ_k = w and h = ∇f(w), so that w = prox_{ψ/α}(w − ∇f(w)/α) minimises f + ψ.
        """
        return 1 / self.alpha

    def initial_state(self, server: Array, repeat: Callable[[Array], Array]) -> State:
        # 0 * server: zeros of the run's arithmetic and device
        return State(server, shared={"h": 0 * server}, memory={"gradient": repeat(0 * server)})

    def subproblem(self, state: State, cohort: Cohort) -> Subproblem:
        linear = -state.memory["gradient"]
        return Subproblem(start=cohort.points, linear=linear, weight=self.alpha, center=cohort.points)

    def update(self, state: State, cohort: Cohort, answers: Answers) -> State:
        before = state.memory["gradient"]
        # stationarity of the exact answer: ∇F_k(θ_k) = g_k − α(θ_k − w), the new g_k
        gradient = before - self.alpha * (answers.points - cohort.points)
        h = cohort.updated_mean(state.shared["h"], before, gradient)  # h − (α/m) Σ_k (θ_k − w)
        server = cohort.average(answers.points) - h / self.alpha
        return State(server, shared={"h": h}, memory={"gradient": gradient})


@final
@dataclass(frozen=True, kw_only=True)
class FedDyn(SolvesExactly, DynamicRegularization):
    """FedDyn: proximal subproblems whose linear term −g_k removes the clients' drift, with exact local solutions.

    Use it for heterogeneous clients with partial participation: its fixed points are the stationary points of the
    objective, it sends one vector each way, and clients that are absent only keep their g_k. Its speed
    depends strongly on α, and its theory on accurate local solutions; with one local gradient step see `FedDynOneGD`.

    θ_k = argmin_θ F_k(θ) − ⟨g_k, θ⟩ + (α/2)‖θ − w‖², g_k ← g_k − α(θ_k − w) = ∇F_k(θ_k), w ← mean θ_k − mean g_k/α,
    the last mean over all m clients. FedDyn paper, Algorithm 1; it minimises the plain mean of the F_k.

    Convergence. With full participation the rounds are those of ADMM for the consensus problem min Σ_k F_k(θ_k), all
    θ_k = w, with penalty α and multipliers −g_k. For convex clients α mean‖θ_k − x*‖² + (1/α) mean‖g_k − ∇F_k(x*)‖²
    never grows after the first round (Boyd et al. 2011, section 3.2 and appendix A), and w converges to the minimiser
    if that is unique, for every α > 0.

    Args:
        alpha: α > 0, the μ of FedProx; for nonconvex clients larger than −mu_k, so that the subproblems are convex.

    Raises:
        InvalidInput: α <= 0 or not finite.
    """


@final
@dataclass(frozen=True, kw_only=True)
class FedDynOneGD(DynamicRegularization):
    """FedDyn with one local gradient step: θ_k = w − (1/α)(∇F_k(w) − g_k).

    Use it if exact local solutions cost too much, or to study FedDyn with a single gradient per round. g_k becomes
    ∇F_k(w), the gradient at the server's point of the last round in which client k took part, so that the method
    resembles SAG/SAGA over clients. FedDyn paper, Algorithm 2; it minimises the plain mean of the F_k.

    Args:
        alpha: α > 0, the inverse of the local stepsize; the paper's theory needs α well above L (equation (20): 50 L).

    Raises:
        InvalidInput: α <= 0 or not finite.
    """

    @property
    def local_solver(self) -> LocalSolver:
        # the proximal term has gradient 0 at w, so the step is −(1/α)(∇F_k(w) − g_k)
        one = Fraction(1) if isinstance(self.alpha, int) else 1  # 1/5 in exact runs, not the float 0.2
        return GradientDescent(steps=1, stepsize=one / self.alpha)
