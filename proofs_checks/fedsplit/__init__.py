"""Proofs of the FedSplit paper's statements, and of their sharper forms. Importing the folder registers all proofs.

| modules | contents |
|---|---|
| `notation` | symbols of the proofs |
| `problem`, `fixed_points`, `least_squares` | (1) to (15), Propositions 1 to 3 |
| `interpolation` | the inequality between two points of a strongly convex and smooth function |
| `contraction`, `local_steps`, `complexity` | Theorem 1, Corollary 1, (22) |
| `claimed_fixed_points`, `claimed_theorems` | (4) to (7), (13), Propositions 1 to 3 and Theorem 1, for the kernel |
| `one_round`, `one_step` | inequalities of a round and of a client's step, for the kernel |
| `regularised` | (19) and Theorem 2, refuted as printed, and corrected |
| `exact_runs` | instances on which formulas are compared with the running code |
| `tightness` | how tight the bounds are |
| `worst_case_questions` | the worst-case problem of Corollary 1, which no claim states |
"""

from importlib import import_module
from pkgutil import iter_modules

for _module in iter_modules(__path__):
    import_module(f"{__name__}.{_module.name}")
