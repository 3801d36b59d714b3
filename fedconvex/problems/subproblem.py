"""The local subproblem: the function that a method lets every client minimise in a round."""

from dataclasses import dataclass, replace

import numpy as np

from fedconvex.arithmetic.rationals import Array, Scalar


@dataclass(frozen=True, eq=False)
class Subproblem:
    """Minimise φ_k(θ) = F_k(θ) + ⟨linear_k, θ⟩ + (weight/2)‖θ − center_k‖² for every client k, starting at start_k.

    A method creates it in every round, a local solver solves it (approximately). All methods of the package have this
    form: FedProx with weight μ and center w, SCAFFOLD with the correction c − c_k as linear term, FedAvg with neither.

    `start` has shape (m, d); `linear` and `center` have shape (m, d), or are None if the term is absent (`weight` is 0
    without `center`; for solvers that take steps also (m, 1), a weight for every client). `guess` (m, d) is another
    starting point for solvers that iterate until the exact minimiser (FedSplit gives the server's point): it saves time
    and does not change their result.
    """

    start: Array
    weight: Scalar = 0
    center: Array | None = None
    linear: Array | None = None
    guess: Array | None = None

    def of(self, members: np.ndarray) -> "Subproblem":
        """The subproblems of some clients, given by their indices."""
        start, center, linear, guess = (
            None if part is None else part[members] for part in (self.start, self.center, self.linear, self.guess)
        )
        weight = self.weight[members] if isinstance(self.weight, np.ndarray) else self.weight
        return Subproblem(start, weight, center, linear, guess)

    def right_side(self, c: Array) -> Array:
        """r with (H_k + weight·I) θ_k = r_k where F_k(θ) = ½θᵀH_kθ − c_kᵀθ and θ solves the subproblem."""
        if self.center is not None:
            c = c + self.weight * self.center
        return c if self.linear is None else c - self.linear

    def leaving(self, residuals: Array) -> "Subproblem":
        """The subproblems whose minimisers are the points at which the gradients of these are `residuals`, (m, d)."""
        linear = -residuals if self.linear is None else self.linear - residuals
        return replace(self, linear=linear, guess=None)

    def add_gradients(self, theta: Array, gradients: Array) -> Array:
        """∇φ_k(θ_k), shape (m, d), given `gradients`, the ∇F_k(θ_k)."""
        if self.linear is not None:
            gradients = gradients + self.linear
        if self.center is not None:
            gradients = gradients + self.weight * (theta - self.center)
        return gradients
