"""Proofs of the exact rates, from one inequality between the clients' points and w*; instances that attain them.

| module | what |
|---|---|
| `draws` | σ, what the draw of P of m clients adds |
| `approximate_newton`, …, `sampled` | the proofs, as in `fedconvex.theory.exact_rates` |
| `instances` | the worst known federations |
"""

from importlib import import_module

for _module in (
    "approximate_newton",
    "control_variates",
    "local_steps",
    "instances",
    "primal_dual",
    "proximal",
    "sampled",
):
    import_module(f"{__name__}.{_module}")
