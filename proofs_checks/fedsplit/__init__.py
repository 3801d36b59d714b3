"""Proofs of the FedSplit paper's statements, and of their sharper forms. Importing the folder registers all proofs.

| modules | contents |
|---|---|
| `one_round` | the inequalities of one round |
| `claimed_fixed_points` | proofs of (3) to (7), (11) to (13), (17), (19), Propositions 1 to 3 |
| `claimed_theorems` | Theorems 1 and 2, Corollary 1, (22) |
| `divergence` | a run that diverges with one local step |
| `remarks` | notes, readings, misprints, worst known instances, programs that break what is printed |
| `counterexamples` | federations that break a refuted claim |
| `exact_runs`, `tightness` | instances beside the running code; how tight the bounds are |
"""

from importlib import import_module
from pkgutil import iter_modules

for _module in iter_modules(__path__):
    import_module(f"{__name__}.{_module.name}")
