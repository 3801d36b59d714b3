"""FedGD, FedSGD, FedAvg and FedNova: local work from the server's point, then averaging; and their base class."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar, final

from fedconvex.arithmetic.rationals import Array, Scalar
from fedconvex.errors import InvalidInput
from fedconvex.local_solvers.base import Answers, LocalSolver
from fedconvex.local_solvers.gradient_descent import GradientDescent
from fedconvex.local_solvers.sgd import SGD
from fedconvex.methods.base import Cohort, Method, State, TakesLocalSteps
from fedconvex.parameters import number
from fedconvex.problems.subproblem import Subproblem
from fedconvex.stepsizes import stepsize
from fedconvex.validation import integer_at_least


class Averaging(Method):
    """w ← Σ_k weights_k θ_k with θ_k ≈ argmin_θ f_k(θ) + (proximal_weight/2)‖θ − w‖², started at w."""

    def initial_state(self, server: Array, repeat: Callable[[Array], Array]) -> State:
        return State(server)

    def subproblem(self, state: State, cohort: Cohort) -> Subproblem:
        if not self.is_proximal:  # no center: solvers skip the term, and torch runs save memory
            return Subproblem(start=cohort.points)
        return Subproblem(start=cohort.points, weight=self.proximal_weight, center=cohort.points)

    def update(self, state: State, cohort: Cohort, answers: Answers) -> State:
        return State(cohort.average(answers.points))

    def prox_stepsize(self, cohort: Cohort, answers: Answers) -> Scalar:
        """For servers that only average: 1/μ of the proximal term.

        The answers are then θ_k = w − ∇M_k(w)/μ with M_k the Moreau envelope of f_k.
        Without one: the participants' mean sum of local stepsizes, how far the server moves along a constant gradient.
        """
        if self.is_proximal:
            return 1 / self.proximal_weight
        assert answers.path_lengths is not None
        return cohort.average(answers.path_lengths)[0]

    def require_prox(self, local_solver: LocalSolver) -> None:
        super().require_prox(local_solver)
        if self.is_proximal == local_solver.has_path_lengths:
            if self.is_proximal:
                problem = "takes a fixed number of steps, which move the server by less than 1/μ times a gradient"
                cure = "give Exact(), or another solver of the whole subproblem"
            else:
                problem, cure = "takes no steps of known size, of which the server's proximal step is", "give SGD(…)"
            raise InvalidInput("local_solver", local_solver, problem, cure)

    @property
    def is_proximal(self) -> bool:
        """Whether the subproblem has a proximal term."""
        return False


@final
@dataclass(frozen=True, kw_only=True)
class FedGD(TakesLocalSteps, Averaging):
    """FedGD: w ← Σ_k weights_k G_k^e(w), e local gradient steps G_k(x) = x − s∇f_k(x), then averaging.

    The deterministic FedAvg: use it to study what several local steps do without the noise of SGD. One local step is
    gradient descent on the objective. With more, it converges in general to a point other than the minimiser
    (FedSplit paper, Proposition 1), unless the clients share a minimiser; methods without this bias are `FedSplit`,
    `FedDyn` and `Scaffold`.

    Source: FedSplit paper, equations (3), (4), there with equal weights.

    Args:
        stepsize: s > 0 or a `StepsizeSchedule`; on convex clients it converges for s < 2/L with L the largest
            smoothness constant.
        local_steps: e, an integer >= 1; one for every client, such as (3, 1, 5); or a `RandomNumberOfSteps`.

    Raises:
        InvalidInput: values out of range.
    """

    no_prox: ClassVar[str] = ""


@final
@dataclass(frozen=True, kw_only=True)
class FedSGD(Averaging):
    """FedSGD: w ← w − s Σ_k weights_k g_k with g_k = ∇f_k(w), or its estimate from one mini-batch.

    The baseline without local work: gradient descent (or SGD) on the objective. It has no bias, and needs the most
    rounds; every method with several local steps should be compared with it.

    Args:
        stepsize: s > 0 or a `StepsizeSchedule`; full batches converge on convex clients for s < 2/L.
        batch_size: samples in the mini-batch, >= 1; None: all samples of the client, the exact gradient.

    Raises:
        InvalidInput: values out of range.
    """

    stepsize: Scalar = number()
    batch_size: int | None = None

    no_prox: ClassVar[str] = ""

    def __post_init__(self) -> None:
        object.__setattr__(self, "stepsize", stepsize(self.stepsize))
        if self.batch_size is not None:
            object.__setattr__(self, "batch_size", integer_at_least(self.batch_size, 1, "batch_size"))

    @property
    def local_solver(self) -> LocalSolver:
        if self.batch_size is None:
            return GradientDescent(steps=1, stepsize=self.stepsize)
        return SGD(steps=1, batch_size=self.batch_size, stepsize=self.stepsize)


@final
@dataclass(frozen=True, kw_only=True)
class FedAvg(Averaging):
    """FedAvg: w ← average of the clients' points after E epochs of SGD on f_k, each started at w.

    The standard baseline; simple, cheap and often good on similar clients. On heterogeneous clients several epochs bias
    it towards a point other than the minimiser, even with full batches (see `FedGD`, which is the same with
    deterministic gradient steps and whose bias the package computes exactly). Needs a problem with samples.

    FedProx paper, Algorithm 1. That paper drops stragglers from FedAvg: `Stragglers(fraction, policy="drop")`. The
    server averages with the problem's weights.

    Args:
        epochs: E >= 1.
        batch_size: samples in a mini-batch, >= 1; None: all samples of the client.
        stepsize: > 0 or a `StepsizeSchedule`, multiplied by decay^t in round t.
        decay: > 0.
        weight_decay: >= 0, added to the gradient as weight_decay · θ.
        clip: > 0: longer gradients are scaled to this length; None: no limit.

    Raises:
        InvalidInput: values out of range.
    """

    epochs: int = 1
    batch_size: int | None = 10
    stepsize: Scalar = number()
    decay: Scalar = number(default=1)
    weight_decay: Scalar = number(default=0)
    clip: Any = None

    no_prox: ClassVar[str] = ""

    def __post_init__(self) -> None:
        solver = self.local_solver  # its constructor validates the parameters
        assert isinstance(solver, SGD)
        object.__setattr__(self, "stepsize", solver.stepsize)
        object.__setattr__(self, "epochs", solver.epochs)
        object.__setattr__(self, "batch_size", solver.batch_size)

    @property
    def local_solver(self) -> LocalSolver:
        return SGD(
            epochs=self.epochs,
            batch_size=self.batch_size,
            stepsize=self.stepsize,
            decay=self.decay,
            weight_decay=self.weight_decay,
            clip=self.clip,
        )


@final
@dataclass(frozen=True, kw_only=True)
class FedNova(TakesLocalSteps, Averaging):
    """FedNova: FedAvg with progress divided by the local work: w ← w + ℓ Σ_k weights_k (θ_k − w)/ℓ_k.

    ℓ_k = s·τ_k is the sum of client k's local stepsizes and ℓ = Σ_k weights_k ℓ_k. Use it if clients do different
    numbers of local steps, because they have different numbers of samples (SGD epochs) or are stragglers: FedAvg would
    then minimise a differently weighted objective. It does not remove the bias of several local steps: with equal work
    it is FedAvg and has its fixed points; with unequal work they solve Σ_k weights_k (θ_k(w) − w)/ℓ_k = 0.

    Source: Wang et al. (2020), equations (5) to (7), for gradient or SGD steps, where ‖a_k‖₁ = τ_k is the number of
    local steps (momentum included by `SGD`) and τ_eff = Σ_k weights_k τ_k.

    Args:
        stepsize: s > 0 or a `StepsizeSchedule`, of the local gradient steps.
        local_steps: τ, an integer >= 1; or τ_k for every client, such as (3, 1, 5). A run may replace both by another
            local solver that reports its path lengths (`SGD`).

    Raises:
        InvalidInput: values out of range.
    """

    no_prox: ClassVar[str] = ""

    @property
    def needs_path_lengths(self) -> bool:
        return True

    def update(self, state: State, cohort: Cohort, answers: Answers) -> State:
        # progress per unit of local stepsize, then scaled by the average amount of work
        directions = (answers.points - cohort.points) / answers.path_lengths
        return State(state.server + cohort.average(answers.path_lengths) * cohort.average(directions))
