"""Proofs of the FedProx paper's statements, and of their sharper forms. Importing the folder registers all proofs.

| modules | contents |
|---|---|
| `one_round`, `one_round_sharper` | (3) to (8), (13), (15), Theorems 4, 11, Corollaries 7, 10, sharper forms |
| `sampling` | (9) to (12) and (14): the average over the drawn devices |
| `rates` | proofs about T rounds: Theorem 6, Remark 8; Remark 5: where Theorem 4's ρ is positive |
| `remarks`, `comparisons` | notes, misprints, counterexamples, worst known instances; the code beside definitions |
| `tightness` | how tight the bounds are |
| `worst_case_questions` | the worst-case problem of (14), which no claim states |
"""

from importlib import import_module
from pkgutil import iter_modules

for _module in iter_modules(__path__):
    import_module(f"{__name__}.{_module.name}")
