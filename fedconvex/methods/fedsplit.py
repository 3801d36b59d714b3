"""FedSplit(s): Peaceman–Rachford splitting of the clients' functions and the consensus constraint."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar, Literal, final

from fedconvex.arithmetic.rationals import Array, Scalar
from fedconvex.errors import InvalidInput
from fedconvex.local_solvers.base import Answers, LocalSolver
from fedconvex.methods.base import Cohort, Method, SolvesExactly, State
from fedconvex.names import suggestion
from fedconvex.parameters import number
from fedconvex.problems.subproblem import Subproblem
from fedconvex.validation import is_choice, positive


@final
@dataclass(frozen=True, kw_only=True)
class FedSplit(SolvesExactly):
    """FedSplit: z_k ← z_k + 2(prox_{sF_k}(2x − z_k) − x), x ← mean z_k, with prox_{sF}(v) = argmin F + ‖· − v‖²/(2s).

    Use it for (strongly) convex clients that all take part and solve their proximal steps accurately: it has no bias,
    sends one vector each way, and needs on the order of √κ rounds instead of κ. For partial participation use `FedDyn`
    or `Scaffold`; for convex clients without strong convexity see `RegularizedFedSplit`.

    Source: FedSplit paper, Algorithm 1. The paper minimises the plain sum of the clients' functions; on a weighted
    problem client k contributes F_k = num_clients · weights[k] · f_k, so that uniform weights give the paper's method.
    With exact proximal steps the fixed points are the stationary points of the objective (Proposition 3).

    **Inexact local solvers.** The paper starts the local steps at the center of the proximal term, 2x − z_k
    (Corollary 1). At the solution the proximal step moves away from there, so that any fixed number of gradient steps
    leaves an error: the fixed point is wrong, by an amount that decreases geometrically with the number of steps. But
    at the solution the right answer is x, which is also the client's last answer. Local steps that start at either of
    them have nothing left to do there, and the fixed points are right for any number of steps. For inexact solvers use
    therefore `start="server"` or `"warm"`; `"center"` is the method that the paper analyses.

    **Partial participation.** In the FedDyn paper (section A.4) absent clients keep their z_k, and the server's point
    is the mean of all clients' z_k or of the participants'. The first is slow; no theory of the second is known.

    **Convergence.** From everywhere on convex quadratics with a unique minimiser (`QuadraticFixedPoints.attracting`)
    and on smooth strongly convex clients (Theorem 1 for the best stepsize; Giselsson and Boyd for every stepsize > 0).

    Args:
        stepsize: s > 0; s = 1/√(ℓ_* L^*) gives the contraction of Theorem 1.
        start: the starting point of inexact local solvers: "center" (2x − z_k), "server" (x) or "warm" (the last
            answer, at first x). Exact solvers give the same answer from everywhere.
        server: "all" or "active": whose z_k the server averages; no difference with full participation.

    Raises:
        InvalidInput: values out of range.
    """

    stepsize: Scalar = number()
    start: Literal["center", "server", "warm"] = "center"
    server: Literal["all", "active"] = "all"

    plain: ClassVar[bool] = True
    no_prox: ClassVar[str] = ""
    prox_needs_everyone: ClassVar[bool] = True  # the mean of all z_k is known from w only where w is that mean

    def __post_init__(self) -> None:
        positive(self.stepsize, "stepsize")
        for name, choices in (("start", ("center", "server", "warm")), ("server", ("all", "active"))):
            if not is_choice(given := getattr(self, name), choices):
                *first, last = map(repr, choices)
                cure = f"{suggestion(given, choices)}give {', '.join(first)} or {last}"
                raise InvalidInput(name, given, "is unknown", cure)

    @property
    def proximal_weight(self) -> Scalar:
        return 1 / self.stepsize

    def prox_stepsize(self, cohort: Cohort, answers: Answers) -> Scalar:
        """s: the proximal step of the consensus constraint and ψ together, argmin_x ψ(x) + mean‖x − z_k‖²/(2s).

        At a fixed point z_k = x − s∇F_k(x), so that x = prox_{sψ}(x − s∇f(x)) minimises f + ψ.
        """
        return self.stepsize

    def initial_state(self, server: Array, repeat: Callable[[Array], Array]) -> State:
        memory = {"z": repeat(server)}  # z_k = x for all k, so that the first center is x too
        return State(server, memory={**memory, "answer": repeat(server)} if self.start == "warm" else memory)

    def subproblem(self, state: State, cohort: Cohort) -> Subproblem:
        center = 2 * cohort.points - state.memory["z"]
        start = {"center": center, "server": cohort.points, "warm": state.memory.get("answer")}[self.start]
        return Subproblem(start=start, weight=self.proximal_weight, center=center, guess=cohort.points)

    def update(self, state: State, cohort: Cohort, answers: Answers) -> State:
        before = state.memory["z"]
        z = before + 2 * (answers.points - cohort.points)
        # x is the mean of all z_k: updating it costs no pass over absent clients
        server = cohort.updated_mean(state.server, before, z) if self.server == "all" else cohort.average(z)
        memory = {"z": z, "answer": answers.points} if self.start == "warm" else {"z": z}
        return State(server, memory=memory)


@final
@dataclass(frozen=True, kw_only=True)
class RegularizedFedSplit(Method):
    """FedSplit on F_k + (λ/2)‖· − x⁽¹⁾‖², where x⁽¹⁾ is the starting point.

    Use it for convex clients without strong convexity, to reach a given suboptimality ε in a number of rounds of order
    1/√ε (up to a logarithm). It converges to the minimiser of the regularised objective, which differs from that of
    the objective and depends on the starting point; `FedSplit` has no such bias, but the paper proves no rate there.

    Source: FedSplit paper, Theorem 2. Its equation (19) prints λ/(2m) where λ/2 is meant: the text goes on to call the
    function λ-strongly convex and (L^* + λ)-smooth, which it is with λ/2, and the theorem's λ < ε/(m‖x⁽¹⁾ − x*‖²)
    bounds the added cost (mλ/2)‖x⁽¹⁾ − x*‖² by ε/2. The objective is the plain sum of the F_k, as in `FedSplit`.

    Args:
        stepsize: s > 0; the theorem takes s = 1/√(λ(L^* + λ)).
        regularization: λ > 0.

    Raises:
        InvalidInput: values out of range.
    """

    stepsize: Scalar = number()
    regularization: Scalar = number()

    plain: ClassVar[bool] = True

    def __post_init__(self) -> None:
        positive(self.stepsize, "stepsize")
        positive(self.regularization, "regularization")

    @property
    def local_solver(self) -> LocalSolver:
        return self._splitting.local_solver

    @property
    def proximal_weight(self) -> Scalar:
        return self._splitting.proximal_weight + self.regularization

    def initial_state(self, server: Array, repeat: Callable[[Array], Array]) -> State:
        state = self._splitting.initial_state(server, repeat)
        return State(server, shared={"anchor": server}, memory=state.memory)

    def subproblem(self, state: State, cohort: Cohort) -> Subproblem:
        plain = self._splitting.subproblem(state, cohort)
        # (w₁/2)‖θ − c₁‖² + (λ/2)‖θ − x⁽¹⁾‖² is one quadratic of weight w₁ + λ around the weighted mean of its centers
        pull = plain.weight * plain.center + self.regularization * state.shared["anchor"]
        weight = self.proximal_weight
        return Subproblem(start=plain.start, weight=weight, center=pull / weight, guess=plain.guess)

    def update(self, state: State, cohort: Cohort, answers: Answers) -> State:
        moved = self._splitting.update(state, cohort, answers)
        return State(moved.server, shared=state.shared, memory=moved.memory)

    @property
    def _splitting(self) -> FedSplit:
        made = object.__new__(FedSplit)  # the stepsize has been checked, and in proofs it is a formula
        object.__setattr__(made, "stepsize", self.stepsize)
        return made
