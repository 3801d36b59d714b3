r"""Acar, Zhao, Matas Navarro, Mattina, Whatmough, Saligrama: *Federated Learning Based on Dynamic Regularization*
(ICLR 2021).

Main statements
---------------
* `convex_bound` (Theorem 2), `strongly_convex_bound` (Theorem 3), `nonconvex_bound` (Theorem 4): FedDyn after T rounds.
* `rates` (Theorem 1), `one_gradient_rates` (Theorem 5): the same up to constants; the latter for FedDynOneGD.
* `convex_constants`, `strongly_convex_constants`, `nonconvex_constants`: κ, κ₀, z, r and the multipliers of the proofs.
* `smallest_alpha_convex` and so on: the smallest α that each theorem admits.
* `best_alpha_convex`, `convex_rounds` and so on: the α with the smallest bound, and the rounds to an accuracy.

Every numbered statement is an attribute by its number: `feddyn.theorem2`, `feddyn.lemma4`, `feddyn.equation17`.

Notation: `alpha` α; `L` smoothness, `mu` strong convexity of every device; `num_clients` m devices, `num_active` P of
them in every round; `T` rounds; `D0` = ‖θ⁰ − θ_*‖², `G` = (1/m)Σ‖∇L_k(θ_*)‖². The objective is the plain *mean*. γ^t is
an average of models here (in the FedProx paper γ is an inexactness).
"""

from fedconvex.statements.statement import Statement
from fedconvex.theory.feddyn.assumptions import smallest_alpha_convex as smallest_alpha_convex
from fedconvex.theory.feddyn.assumptions import smallest_alpha_nonconvex as smallest_alpha_nonconvex
from fedconvex.theory.feddyn.assumptions import smallest_alpha_one_gradient as smallest_alpha_one_gradient
from fedconvex.theory.feddyn.assumptions import (
    smallest_alpha_one_gradient_nonconvex as smallest_alpha_one_gradient_nonconvex,
)
from fedconvex.theory.feddyn.assumptions import smallest_alpha_strongly_convex as smallest_alpha_strongly_convex
from fedconvex.theory.feddyn.convex import convex_bound_of_lemma as convex_bound_of_lemma
from fedconvex.theory.feddyn.convex import convex_constants as convex_constants
from fedconvex.theory.feddyn.convex import distance_after as distance_after
from fedconvex.theory.feddyn.convex import distance_after_rearranged as distance_after_rearranged
from fedconvex.theory.feddyn.convex import distance_after_strongly as distance_after_strongly
from fedconvex.theory.feddyn.convex import growth_sum as growth_sum
from fedconvex.theory.feddyn.convex import lemma1 as lemma1
from fedconvex.theory.feddyn.convex import lemma2 as lemma2
from fedconvex.theory.feddyn.convex import lemma3 as lemma3
from fedconvex.theory.feddyn.convex import lemma4 as lemma4
from fedconvex.theory.feddyn.convex import lemma5 as lemma5
from fedconvex.theory.feddyn.convex import lemma6 as lemma6
from fedconvex.theory.feddyn.convex import lemma7 as lemma7
from fedconvex.theory.feddyn.convex import lemma8 as lemma8
from fedconvex.theory.feddyn.convex import lemma9 as lemma9
from fedconvex.theory.feddyn.convex import strongly_convex_constants as strongly_convex_constants
from fedconvex.theory.feddyn.design import best_alpha_convex as best_alpha_convex
from fedconvex.theory.feddyn.design import best_alpha_nonconvex as best_alpha_nonconvex
from fedconvex.theory.feddyn.design import convex_rounds as convex_rounds
from fedconvex.theory.feddyn.design import nonconvex_rounds as nonconvex_rounds
from fedconvex.theory.feddyn.linear import linear_rate as linear_rate
from fedconvex.theory.feddyn.nonconvex import lemma10 as lemma10
from fedconvex.theory.feddyn.nonconvex import lemma11 as lemma11
from fedconvex.theory.feddyn.nonconvex import lemma12 as lemma12
from fedconvex.theory.feddyn.nonconvex import loss_change_bound as loss_change_bound
from fedconvex.theory.feddyn.nonconvex import nonconvex_constants as nonconvex_constants
from fedconvex.theory.feddyn.notation import PAPER as PAPER
from fedconvex.theory.feddyn.one_gradient import lemma13 as lemma13
from fedconvex.theory.feddyn.one_gradient import lemma14 as lemma14
from fedconvex.theory.feddyn.one_gradient import lemma15 as lemma15
from fedconvex.theory.feddyn.one_gradient import lemma16 as lemma16
from fedconvex.theory.feddyn.one_gradient import lemma17 as lemma17
from fedconvex.theory.feddyn.one_gradient import lemma18 as lemma18
from fedconvex.theory.feddyn.one_gradient import lemma19 as lemma19
from fedconvex.theory.feddyn.one_gradient import lemma20 as lemma20
from fedconvex.theory.feddyn.one_gradient import lemma21 as lemma21
from fedconvex.theory.feddyn.one_gradient import one_gradient_bound as one_gradient_bound
from fedconvex.theory.feddyn.one_gradient import one_gradient_decrease as one_gradient_decrease
from fedconvex.theory.feddyn.one_gradient import one_gradient_nonconvex_bound as one_gradient_nonconvex_bound
from fedconvex.theory.feddyn.one_gradient import one_gradient_nonconvex_scales as one_gradient_nonconvex_scales
from fedconvex.theory.feddyn.one_gradient import one_gradient_round as one_gradient_round
from fedconvex.theory.feddyn.one_gradient import one_gradient_scales as one_gradient_scales
from fedconvex.theory.feddyn.problem import active_average as active_average
from fedconvex.theory.feddyn.problem import device_objective as device_objective
from fedconvex.theory.feddyn.problem import first_order_residual as first_order_residual
from fedconvex.theory.feddyn.problem import global_gradient as global_gradient
from fedconvex.theory.feddyn.problem import gradient_difference_bound as gradient_difference_bound
from fedconvex.theory.feddyn.problem import mean_memory as mean_memory
from fedconvex.theory.feddyn.problem import smooth_upper as smooth_upper
from fedconvex.theory.feddyn.problem import three_points as three_points
from fedconvex.theory.feddyn.problem import three_points_strongly as three_points_strongly
from fedconvex.theory.feddyn.problem import virtual_gradient_step as virtual_gradient_step
from fedconvex.theory.feddyn.problem import virtual_objective as virtual_objective
from fedconvex.theory.feddyn.problem import virtual_step as virtual_step
from fedconvex.theory.feddyn.rates import convex_rate_bound as convex_rate_bound
from fedconvex.theory.feddyn.rates import nonconvex_rate_bound as nonconvex_rate_bound
from fedconvex.theory.feddyn.rates import one_gradient_convex_rate_bound as one_gradient_convex_rate_bound
from fedconvex.theory.feddyn.rates import one_gradient_nonconvex_rate_bound as one_gradient_nonconvex_rate_bound
from fedconvex.theory.feddyn.rates import (
    one_gradient_strongly_convex_rate_bound as one_gradient_strongly_convex_rate_bound,
)
from fedconvex.theory.feddyn.rates import strongly_convex_rate_bound as strongly_convex_rate_bound
from fedconvex.theory.feddyn.sharper import convex_bound_sharper as convex_bound_sharper
from fedconvex.theory.feddyn.sharper import lemma1_sharper as lemma1_sharper
from fedconvex.theory.feddyn.sharper import lemma4_sharper as lemma4_sharper
from fedconvex.theory.feddyn.sharper import lemma8_sharper as lemma8_sharper
from fedconvex.theory.feddyn.sharper import sharper_constants as sharper_constants
from fedconvex.theory.feddyn.sharper import sharper_strongly_convex_constants as sharper_strongly_convex_constants
from fedconvex.theory.feddyn.sharper import strongly_convex_bound_sharper as strongly_convex_bound_sharper
from fedconvex.theory.feddyn.sharper_nonconvex import lemma10_as_summed as lemma10_as_summed
from fedconvex.theory.feddyn.sharper_nonconvex import lemma10_sharper as lemma10_sharper
from fedconvex.theory.feddyn.sharper_nonconvex import lemma11_sharper as lemma11_sharper
from fedconvex.theory.feddyn.sharper_nonconvex import lemma12_sharper as lemma12_sharper
from fedconvex.theory.feddyn.sharper_nonconvex import lemma19_sharper as lemma19_sharper
from fedconvex.theory.feddyn.sharper_nonconvex import nonconvex_bound_sharper as nonconvex_bound_sharper
from fedconvex.theory.feddyn.sharper_nonconvex import one_gradient_bound_sharper as one_gradient_bound_sharper
from fedconvex.theory.feddyn.sharper_nonconvex import (
    one_gradient_nonconvex_bound_sharper as one_gradient_nonconvex_bound_sharper,
)
from fedconvex.theory.feddyn.sharper_nonconvex import sharper_nonconvex_constants as sharper_nonconvex_constants
from fedconvex.theory.feddyn.theorems import convex_bound as convex_bound
from fedconvex.theory.feddyn.theorems import nonconvex_bound as nonconvex_bound
from fedconvex.theory.feddyn.theorems import one_gradient_rates as one_gradient_rates
from fedconvex.theory.feddyn.theorems import rates as rates
from fedconvex.theory.feddyn.theorems import strongly_convex_bound as strongly_convex_bound
from fedconvex.theory.feddyn.theorems import (
    strongly_convex_bound_read_otherwise as strongly_convex_bound_read_otherwise,
)


def __getattr__(name: str) -> Statement:
    return PAPER.find(name)
