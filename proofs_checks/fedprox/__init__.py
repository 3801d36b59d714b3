"""Proofs of the FedProx paper's statements, and of their sharper forms. Importing the folder registers all proofs.

| modules | contents |
|---|---|
| `notation` | symbols and vectors of one round |
| `definitions` | Definitions 1 to 3, Assumption 1, (1) and (2), compared with the running code |
| `client`, `step_lengths`, `drift`, `mean_answer` | (3) to (8): from one client's answer to the mean of all answers |
| `server` | (9) to (14) and Theorem 4: the average over the drawn devices |
| `theorem6`, `remark5`, `bounded_variance`, `variable_inexactness` | Theorem 6, Remark 5, Theorem 11, Corollary 9 |
| `convex_rates` | (15), (16), Corollary 7, Remark 8 |
| `theorem4_sharper`, `convex`, `curvature` | sharper forms of Theorem 4, which are not in the paper |
| `tightness`, `extremal_clients` | how tight the bounds are |
| `worst_case_questions` | the worst-case problem of (14), which no claim states |
"""

from importlib import import_module
from pkgutil import iter_modules

for _module in iter_modules(__path__):
    import_module(f"{__name__}.{_module.name}")
