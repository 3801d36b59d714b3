"""Proofs of the FedDyn paper's statements, and of their sharper forms. Importing the folder registers all proofs.

| modules | contents |
|---|---|
| `convex`, `nonconvex`, `one_gradient`, `equations`, `sharper` | proofs as data, which the kernel replays |
| `notation`, `expectations`, `one_gradient_notation` | symbols and vectors of one round |
| `run_sums`, `sums_of_squares` | steps and squares that several proofs share |
| `definitions`, `one_gradient_definitions` | (1) to (3), (7) to (9), (15), (16), compared with the running code |
| `smoothness` | (4) to (6), (11), Lemma 6 |
| `convex_lemmas`, `convex_round`, `strongly_convex`, `convex_rates` | Lemmas 1 to 5, 7 to 9, Theorems 2 and 3 |
| `nonconvex_lemmas`, `nonconvex_rates` | Lemmas 10 to 12, Theorem 4 |
| `one_gradient_lemmas`, `…_nonconvex`, `…_rounds` | FedDynOneGD: Lemmas 13 to 21, (17) to (20) |
| `theorem1`, `theorem5` | the rates up to constants |
| `sharper_…`, `one_gradient_sharper` | sharper statements, which are not in the paper |
| `exact_runs`, `nonconvex_measures`, `convex_tightness`, `nonconvex_tightness` | how tight the bounds are |
"""

from importlib import import_module
from pkgutil import iter_modules

for _module in iter_modules(__path__):
    import_module(f"{__name__}.{_module.name}")
