r"""Li, Sahu, Zaheer, Sanjabi, Talwalkar, Smith: *Federated Optimization in Heterogeneous Networks* (MLSys 2020).

Main statements
---------------
* `rho` (Theorem 4): one round decreases the objective in expectation by ρ‖∇f(w^t)‖², if ρ > 0.
* `rho_variable` (Corollary 9), `rho_bounded_variance` (Theorem 11): the same with variable γ, with bounded variance.
* `rho_sharp`, `rho_by_variance`, `rho_by_curvature`, `rho_convex`, `rho_convex_everyone` (not in the paper): larger ρ.
* `iterations` (Theorem 6): rounds until the mean squared gradient is at most ε.
* `best_mu`, `mu_range`, `smallest_K`, `can_decrease`: parameters for which Theorem 4's ρ is positive, and largest.

Every numbered statement is an attribute by its number: `fedprox.theorem4`, `fedprox.equation13`.

Notation: `mu` proximal weight μ; `L` smoothness of every client; `L_minus` L₋, no curvature is below −L₋; `B`
dissimilarity; `gamma` inexactness γ (in the FedDyn paper γ is an average); `K` devices per round. The objective is the
*mean* with weights p_k. In the FedSplit paper μ is 1/s.
"""

from fedconvex.statements.statement import Statement
from fedconvex.theory.fedprox.design import BestMu as BestMu
from fedconvex.theory.fedprox.design import best_mu as best_mu
from fedconvex.theory.fedprox.design import can_decrease as can_decrease
from fedconvex.theory.fedprox.design import mu_range as mu_range
from fedconvex.theory.fedprox.design import rho_of_everyone as rho_of_everyone
from fedconvex.theory.fedprox.design import slack as slack
from fedconvex.theory.fedprox.design import smallest_K as smallest_K
from fedconvex.theory.fedprox.notation import PAPER as PAPER
from fedconvex.theory.fedprox.results import bounded_dissimilarity as bounded_dissimilarity
from fedconvex.theory.fedprox.results import client_inexactness as client_inexactness
from fedconvex.theory.fedprox.results import convex_choice as convex_choice
from fedconvex.theory.fedprox.results import dissimilarity as dissimilarity
from fedconvex.theory.fedprox.results import dissimilarity_from_variance as dissimilarity_from_variance
from fedconvex.theory.fedprox.results import inexactness as inexactness
from fedconvex.theory.fedprox.results import iterations as iterations
from fedconvex.theory.fedprox.results import necessary_margins as necessary_margins
from fedconvex.theory.fedprox.results import rho as rho
from fedconvex.theory.fedprox.results import rho_bounded_variance as rho_bounded_variance
from fedconvex.theory.fedprox.results import rho_terms as rho_terms
from fedconvex.theory.fedprox.results import rho_variable as rho_variable
from fedconvex.theory.fedprox.results import rho_variable_of_all as rho_variable_of_all
from fedconvex.theory.fedprox.results import sgd_like_iterations as sgd_like_iterations
from fedconvex.theory.fedprox.sharper import convex_choice_sharp as convex_choice_sharp
from fedconvex.theory.fedprox.sharper import rho_bounded_variance_sharp as rho_bounded_variance_sharp
from fedconvex.theory.fedprox.sharper import rho_by_curvature as rho_by_curvature
from fedconvex.theory.fedprox.sharper import rho_by_variance as rho_by_variance
from fedconvex.theory.fedprox.sharper import rho_convex as rho_convex
from fedconvex.theory.fedprox.sharper import rho_convex_everyone as rho_convex_everyone
from fedconvex.theory.fedprox.sharper import rho_sharp as rho_sharp
from fedconvex.theory.fedprox.sharper import rounds_above_accuracy as rounds_above_accuracy
from fedconvex.theory.fedprox.sharper import sharp_margin as sharp_margin
from fedconvex.theory.fedprox.steps import Q_bound as Q_bound
from fedconvex.theory.fedprox.steps import client_step as client_step
from fedconvex.theory.fedprox.steps import convex_decrease as convex_decrease
from fedconvex.theory.fedprox.steps import convex_decrease_chosen as convex_decrease_chosen
from fedconvex.theory.fedprox.steps import deviation_bound as deviation_bound
from fedconvex.theory.fedprox.steps import drift as drift
from fedconvex.theory.fedprox.steps import expected_value_bound as expected_value_bound
from fedconvex.theory.fedprox.steps import local_lipschitz as local_lipschitz
from fedconvex.theory.fedprox.steps import local_objective as local_objective
from fedconvex.theory.fedprox.steps import mean_decrease as mean_decrease
from fedconvex.theory.fedprox.steps import mean_square_deviation_bound as mean_square_deviation_bound
from fedconvex.theory.fedprox.steps import mean_step as mean_step
from fedconvex.theory.fedprox.steps import mean_step_bound as mean_step_bound
from fedconvex.theory.fedprox.steps import objective as objective
from fedconvex.theory.fedprox.steps import residual_bound as residual_bound
from fedconvex.theory.fedprox.steps import sampling_error as sampling_error
from fedconvex.theory.fedprox.steps import solution_distance as solution_distance
from fedconvex.theory.fedprox.steps import value_bound as value_bound


def __getattr__(name: str) -> Statement:
    return PAPER.find(name)
