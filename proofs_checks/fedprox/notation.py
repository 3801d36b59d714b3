"""Symbols and vectors of one round of FedProx, from the server's point w = w^t, for the proofs of this folder.

The vectors of one client are `g`, `d`, `e`; those of all clients, as families (`engines.hilbert`), are `gradients`,
`steps`, `residuals`. Expectations are over the draw of the K devices, given w^t.

| here | paper |
|---|---|
| `g`, `gradients` | ∇F_k(w^t); the mean is `gradient` = ∇f(w^t) |
| `d`, `steps` | w_k^{t+1} − w^t; the mean is w̄^{t+1} − w^t |
| `e`, `residuals` | e_k^{t+1} |
| `M` | M_{t+1}, which is defined by w̄^{t+1} − w^t = −(1/μ)(∇f(w^t) + M_{t+1}) |
| `server_step` | w^{t+1} − w^t, the average over K drawn devices |
| `after` | E f(w^{t+1}) |
| `mean_gradient_norm`, `mean_step_norm`, … | E_k‖∇F_k(w^t)‖, …: means of norms, not of their squares |
| `root_mean_square` | √(E_k‖∇F_k(w^t)‖²) |
"""

from typing import Any

import sympy

from fedconvex.proofs_checks.builders import formula_with
from fedconvex.proofs_checks.engines.hilbert import centred, drawn, family, length, mean, norm, vector
from fedconvex.statements.calculator import Calculator
from fedconvex.statements.rendering import symbols
from fedconvex.theory.fedprox import PAPER

SYMBOLS = symbols(PAPER.notation)
mu, L, L_minus, B, gamma, K = (SYMBOLS[name] for name in ("mu", "L", "L_minus", "B", "gamma", "K"))
mu_bar = mu - L_minus

g, d, e = vector("∇F_k"), vector("d_k"), vector("e_k")

gradients, residuals = family("∇F"), family("e")
gradient = mean(gradients)
M = vector("M")
mean_step = -(gradient + M) / mu
steps = mean_step + centred("d")
server_step = drawn(steps, 1 / K)

value = SYMBOLS["value"]  # f(w^t)
at_mean = SYMBOLS["mean_value"]  # f(w̄^{t+1})
after = sympy.Symbol("E f(w⁺)", real=True)  # E f(w^{t+1}), given w^t
gradient_norm = norm(gradient)  # ‖∇f(w^t)‖
mean_gradient_norm = length("E_k‖∇F_k‖")
mean_step_norm = length("E_k‖d_k‖")
mean_residual_norm = length("E_k‖e_k‖")
root_mean_square = length("√E_k‖∇F_k‖²")
NOT_STATIONARY = sympy.Gt(gradient_norm, 0, evaluate=False)
Q = SYMBOLS["Q"]
r = sympy.Symbol("√(K/2)", positive=True)
ROOTS = ((r, K / 2),)  # with K = 2r² the paper's roots √(2/K) and √(2K) are the rational functions 1/r and 2r
epsilon, delta = SYMBOLS["epsilon"], SYMBOLS["delta"]


def symbolic(calculator: Calculator, **other: Any) -> Any:
    """The calculator's formula in the paper's symbols (`builders.formula_with`); norms of gradients are lengths."""
    return formula_with(calculator, SYMBOLS | {"gradient": gradient_norm, "client_gradient": norm(g)}, **other)
