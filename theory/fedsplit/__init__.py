r"""Pathak, Wainwright: *FedSplit: an algorithmic framework for fast federated optimization* (NeurIPS 2020).

Main statements
---------------
* `distance_bound` (Theorem 1, equation (16)): FedSplit's distance to the minimiser after t rounds; `rounds` inverts it.
* `contraction`, `optimal_stepsize`: its contraction factor per round, 1 − 2/(√κ+1), and the stepsize for it.
* `prox_error_bound` (Corollary 1): the error of e local gradient steps.
* `least_squares_solution`, `fedgd_fixed_point`, `fedprox_fixed_point`: minimiser and fixed points on least squares.
* `complexities` (22): rounds of FedSplit and of gradient descent, up to constants.
* `distance_bound_any_stepsize`, `prox_error_bound_sharp`: sharper than Theorem 1 and Corollary 1; not in the paper.
* `regularized_gap_bound`, `regularized_rounds`: Theorem 2 with explicit constants, and corrected; not in the paper.

Every numbered statement is an attribute by its number: `fedsplit.theorem1`, `fedsplit.equation17`.

Notation: `mu` ℓ_* strong convexity and `L` L^* smoothness of every client; `kappa` κ = L^*/ℓ_*; `stepsize` s (1/μ in
the FedProx paper); `b` error of the proximal steps; `t` rounds. The objective is the plain *sum* F = Σ_j f_j.
"""

from fedconvex.statements.statement import Statement
from fedconvex.theory.fedsplit.convergence import approximate_iterations as approximate_iterations
from fedconvex.theory.fedsplit.convergence import complexities as complexities
from fedconvex.theory.fedsplit.convergence import contraction as contraction
from fedconvex.theory.fedsplit.convergence import distance_bound as distance_bound
from fedconvex.theory.fedsplit.convergence import floor_margin as floor_margin
from fedconvex.theory.fedsplit.convergence import largest_regularizer as largest_regularizer
from fedconvex.theory.fedsplit.convergence import local_stepsize as local_stepsize
from fedconvex.theory.fedsplit.convergence import logistic_objective as logistic_objective
from fedconvex.theory.fedsplit.convergence import margin as margin
from fedconvex.theory.fedsplit.convergence import multiclass_objective as multiclass_objective
from fedconvex.theory.fedsplit.convergence import optimal_stepsize as optimal_stepsize
from fedconvex.theory.fedsplit.convergence import prox_error_bound as prox_error_bound
from fedconvex.theory.fedsplit.convergence import prox_gradient_step as prox_gradient_step
from fedconvex.theory.fedsplit.convergence import regularized_iterations as regularized_iterations
from fedconvex.theory.fedsplit.convergence import regularized_objective as regularized_objective
from fedconvex.theory.fedsplit.convergence import regularized_stepsize as regularized_stepsize
from fedconvex.theory.fedsplit.convergence import rounds as rounds
from fedconvex.theory.fedsplit.corrected import corrected_prox_gradient_step as corrected_prox_gradient_step
from fedconvex.theory.fedsplit.corrected import corrected_regularized_objective as corrected_regularized_objective
from fedconvex.theory.fedsplit.corrected import regularized_rounds as regularized_rounds
from fedconvex.theory.fedsplit.least_squares import fedgd_fixed_point as fedgd_fixed_point
from fedconvex.theory.fedsplit.least_squares import fedprox_fixed_point as fedprox_fixed_point
from fedconvex.theory.fedsplit.least_squares import least_squares_objective as least_squares_objective
from fedconvex.theory.fedsplit.least_squares import least_squares_solution as least_squares_solution
from fedconvex.theory.fedsplit.notation import PAPER as PAPER
from fedconvex.theory.fedsplit.problem import condition_number as condition_number
from fedconvex.theory.fedsplit.problem import consensus_objective as consensus_objective
from fedconvex.theory.fedsplit.problem import fedgd_residual as fedgd_residual
from fedconvex.theory.fedsplit.problem import fedgd_round as fedgd_round
from fedconvex.theory.fedsplit.problem import fedprox_residual as fedprox_residual
from fedconvex.theory.fedsplit.problem import fedprox_round as fedprox_round
from fedconvex.theory.fedsplit.problem import fedsplit_residual as fedsplit_residual
from fedconvex.theory.fedsplit.problem import gradient_map as gradient_map
from fedconvex.theory.fedsplit.problem import inclusion_residual as inclusion_residual
from fedconvex.theory.fedsplit.problem import normal_cone_residual as normal_cone_residual
from fedconvex.theory.fedsplit.problem import objective as objective
from fedconvex.theory.fedsplit.problem import optimality_residual as optimality_residual
from fedconvex.theory.fedsplit.problem import prox_error as prox_error
from fedconvex.theory.fedsplit.sharper import distance_bound_any_stepsize as distance_bound_any_stepsize
from fedconvex.theory.fedsplit.sharper import prox_error_bound_sharp as prox_error_bound_sharp
from fedconvex.theory.fedsplit.sharper import regularized_gap_bound as regularized_gap_bound


def __getattr__(name: str) -> Statement:
    return PAPER.find(name)
