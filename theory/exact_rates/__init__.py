r"""Rates of federated methods with exact or sharp constants, for clients of any number. In none of the papers.

Main statements
---------------
* `fedprox_floor`, `fedprox_round`, `fedprox_run`, `fedprox_drawn_round`, `fedprox_convex`: FedProx, solved exactly.
* `fedsgd_round`, `fedsgd_run`, `fedsgd_convex`: one gradient step of P of m clients.
* `scaffold_step`, `scaffold_drawn_round`, `scaffold_convex`: SCAFFOLD with one local step, with everyone and P of m;
  `scaffold_steps_round`, `scaffold_convex_steps` with any number of them.
* `dane_round`, `dane_convex`: DANE, however different the clients are.
* `feddyn_convex`, `feddynonegd_convex`, `feddynonegd_round`, `fedpd_round`, `fedpd_convex`, `fedsplit_drawn_round`.

`scaffold.acceleration` and `feddyn.linearrate` are of the same kind. The guide's page on rates compares them with the
bounds that were known. "tight" says that no smaller factor and no smaller constant holds for clients of any number.

Notation: `mu`, `L` curvatures of every client; `stepsize` s, of FedProx 1/weight; `num_active` P of `num_clients` m;
`zeta2` ζ_*² = mean‖∇F_k(w*)‖². The objective is the plain *mean*, or the weighted one where everyone takes part.
"""

from fedconvex.statements.statement import Statement
from fedconvex.theory.exact_rates.approximate_newton import dane_convex as dane_convex
from fedconvex.theory.exact_rates.approximate_newton import dane_round as dane_round
from fedconvex.theory.exact_rates.control_variates import scaffold_convex as scaffold_convex
from fedconvex.theory.exact_rates.control_variates import scaffold_convex_steps as scaffold_convex_steps
from fedconvex.theory.exact_rates.control_variates import scaffold_drawn_round as scaffold_drawn_round
from fedconvex.theory.exact_rates.control_variates import scaffold_step as scaffold_step
from fedconvex.theory.exact_rates.control_variates import scaffold_steps_round as scaffold_steps_round
from fedconvex.theory.exact_rates.notation import PAPER as PAPER
from fedconvex.theory.exact_rates.primal_dual import feddyn_convex as feddyn_convex
from fedconvex.theory.exact_rates.primal_dual import feddynonegd_convex as feddynonegd_convex
from fedconvex.theory.exact_rates.primal_dual import feddynonegd_round as feddynonegd_round
from fedconvex.theory.exact_rates.primal_dual import fedpd_convex as fedpd_convex
from fedconvex.theory.exact_rates.primal_dual import fedpd_round as fedpd_round
from fedconvex.theory.exact_rates.primal_dual import fedsplit_drawn_round as fedsplit_drawn_round
from fedconvex.theory.exact_rates.proximal import fedprox_convex as fedprox_convex
from fedconvex.theory.exact_rates.proximal import fedprox_drawn_round as fedprox_drawn_round
from fedconvex.theory.exact_rates.proximal import fedprox_floor as fedprox_floor
from fedconvex.theory.exact_rates.proximal import fedprox_round as fedprox_round
from fedconvex.theory.exact_rates.proximal import fedprox_run as fedprox_run
from fedconvex.theory.exact_rates.sampled import fedsgd_convex as fedsgd_convex
from fedconvex.theory.exact_rates.sampled import fedsgd_round as fedsgd_round
from fedconvex.theory.exact_rates.sampled import fedsgd_run as fedsgd_run


def __getattr__(name: str) -> Statement:
    return PAPER.find(name)
