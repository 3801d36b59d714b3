"""FedDyn(α): every client's function is tilted by its own last gradient, the server corrects for their mean."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar, final

from fedconvex.arithmetic.rationals import Array, Scalar
from fedconvex.local_solvers.base import Answers, LocalSolver
from fedconvex.local_solvers.exact import Exact
from fedconvex.local_solvers.gradient_descent import GradientDescent
from fedconvex.methods.base import Cohort, Method, State
from fedconvex.parameters import number
from fedconvex.problems.subproblem import Subproblem
from fedconvex.validation import positive


class DynamicRegularization(Method):
    """θ_k ≈ argmin_θ F_k(θ) − ⟨g_k, θ⟩ + (α/2)‖θ − w‖², from w; g_k ← g_k − α(θ_k − w) for those who take part;
    h ← h − (α/m) Σ_k (θ_k − w); w ← mean of their θ_k − h/α. Starts with g_k = 0, h = 0.

    So h is always the mean of all m clients' g_k.

    The paper minimises the plain mean of the clients' functions (its 1/m): on a weighted problem client k contributes
    F_k = num_clients · weights[k] · f_k, and averages are plain.
    """

    alpha: Scalar

    plain: ClassVar[bool] = True
    control_variate: ClassVar[str | None] = "gradient"

    @property
    def proximal_weight(self) -> Scalar:
        return self.alpha

    @property
    def stationary_inexactly(self) -> bool:
        """Constant g_k: θ_k = w, the start. Solved: ∇F_k(w) = g_k; the server rests where h, their mean, is 0."""
        return True

    def initial_state(self, server: Array, repeat: Callable[[Array], Array]) -> State:
        return State(server, shared={"h": 0 * server}, memory={"gradient": repeat(0 * server)})

    def subproblem(self, state: State, cohort: Cohort) -> Subproblem:
        linear = -state.memory["gradient"]
        return Subproblem(start=cohort.points, linear=linear, weight=self.alpha, center=cohort.points)

    def update(self, state: State, cohort: Cohort, answers: Answers) -> State:
        before = state.memory["gradient"]
        gradient = before - self.alpha * (answers.points - cohort.points)
        h = cohort.updated_mean(state.shared["h"], before, gradient)  # changes by −(α/m) Σ_k (θ_k − w)
        server = cohort.average(answers.points) - h / self.alpha
        return State(server, shared={"h": h}, memory={"gradient": gradient})


@final
@dataclass(frozen=True, kw_only=True)
class FedDyn(DynamicRegularization):
    """Dynamic regularisation with exact local solutions, after which g_k = ∇F_k(θ_k). FedDyn paper, Algorithm 1.

    With everyone taking part the rounds are those of ADMM for the consensus problem
    min Σ_k F_k(θ_k), all θ_k = w, with penalty α and multipliers −g_k: w ← mean(θ_k − g_k/α), then the θ_k, then the
    g_k. For convex clients α mean‖θ_k − x*‖² + (1/α) mean‖g_k − ∇F_k(x*)‖² never grows after the first round, θ_k − w
    goes to 0 and Σ_k F_k(θ_k) to its minimum (Boyd et al. 2011, section 3.2 and appendix A): where the minimiser of a
    continuous convex objective is unique, the bounded w can only go there, whatever α > 0.

    Args:
        alpha: α > 0; for clients that are not convex, above minus their least curvature.
    """

    alpha: Scalar = number()

    stationary: ClassVar[bool] = True
    converges_on_convex_quadratics: ClassVar[bool] = True
    converges_on_strongly_convex: ClassVar[bool] = True

    def __post_init__(self) -> None:
        positive(self.alpha, "alpha")

    @property
    def local_solver(self) -> LocalSolver:
        return Exact()


@final
@dataclass(frozen=True, kw_only=True)
class FedDynOneGD(DynamicRegularization):
    """Dynamic regularisation with θ_k = w − (1/α)(∇F_k(w) − g_k), one gradient step from w. FedDyn paper, Algorithm 2.

    A client's g_k is then its gradient at the server's point of the last round in which it took part.

    Args:
        alpha: α > 0.
    """

    alpha: Scalar = number()

    def __post_init__(self) -> None:
        positive(self.alpha, "alpha")

    @property
    def local_solver(self) -> LocalSolver:
        return GradientDescent(steps=1, stepsize=1 / self.alpha)
