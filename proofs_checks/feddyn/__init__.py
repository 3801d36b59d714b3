"""Proofs of the FedDyn paper's statements, and of their sharper forms. Importing the folder registers all proofs.

| modules | contents |
|---|---|
| `equations` | proofs of (2) to (6), (8), (9), (11), Lemmas 2 and 6; the linear rate with everyone |
| `convex`, `nonconvex` | proofs about one round: Lemmas 1, 3 to 5, 7 to 12 |
| `one_gradient` | proofs about one round of FedDynOneGD: Lemmas 13 to 21 |
| `runs` | proofs about T rounds: Theorems 2 to 4, (18), (20) |
| `rates_with_constants` | Theorems 1 and 5 with constants |
| `sharper` | sharper statements, not in the paper |
| `remarks`, `comparisons` | notes, readings, misprints, worst known instances; the running code beside definitions |
| `tightness` | how tight the bounds are |
| `exact_runs` | runs over all draws, which definitions are compared with |
"""

from importlib import import_module
from pkgutil import iter_modules

for _module in iter_modules(__path__):
    import_module(f"{__name__}.{_module.name}")
