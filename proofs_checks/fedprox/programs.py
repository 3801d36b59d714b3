"""FedProx: counterexamples to what is printed, as programs that run alone."""

from fractions import Fraction
from typing import Any

from fedconvex.proofs_checks.witnesses import Witness, replay
from fedconvex.statements.functions import Irrational

AT_REST = Witness(
    "a fixed point, where w_k^{t+1} = w_k^t, of two clients that take part in each round, γ = 0",
    """
from fractions import Fraction
mu, curvatures, minima = 1, (1, 3), (1, 0)  # F_k(w) = ½h_k(w − minima[k])², so L = 3
w = Fraction(2, 5)
after = [(h * a + mu * w) / (h + mu) for h, a in zip(curvatures, minima)]
left = abs(sum(h * (u - w) for h, u in zip(curvatures, after)) / 2)  # ‖M‖ = |E_k[∇F_k(w_k^{t+1}) − ∇F_k(w^t)]|
right = 3 * abs(w - sum(after) / 2)  # L E_k‖w_k^{t+1} − w_k^t‖ = 0, as the next round begins at the same w
""",
)
THEOREM4_AT_ITS_MU = Witness(
    "Theorem 4's ρ at L = 1, B = 2, K = 16 and μ = 6LB² = 24",
    """
from fractions import Fraction
L, B, K, root2 = 1, 2, 16, Fraction(1414, 1000)  # root2² < 2, and ρ decreases in √2: right is more than ρ
mu, root_K = 6 * L * B**2, 4
left = Fraction(1, 24 * L * B**2)
right = Fraction(1, mu) - B * root2 / (mu * root_K) - Fraction(L * B, mu**2) - Fraction(L * B**2, 2 * mu**2)
right -= Fraction(L * B**2, mu**2 * K) * (2 * root2 * root_K + 2)
""",
)
DRAWN_LARGEST = Witness(
    "two devices, p = 1/2, F_k(w) = w − w²/2000, γ_1 = 1/2, γ_2 = 0, K = 128, μ = 1, w^t = 0: f decreases in "
    "expectation by about 3/4; a draw of device 2 only has γ^t = 0, for which the corollary promises about 7/8",
    """
from fractions import Fraction as F
mu, d, K, B = F(1), F(1, 1000), 128, F(1)     # sqrt(2/K) = 1/8, sqrt(2K) = 16
L, L_minus, m = d, d, mu - d                  # two devices with p = 1/2, F_k(w) = w - d w^2/2, from w = 0
f = lambda w: w - d * w**2 / 2                # f is both F_k; f'(0) = 1, so B = 1
inexact, exact = -F(1, 2) / m, -1 / m         # F_k'(w_k) + mu w_k = 1/2 and 0: gamma_1 = 1/2, gamma_2 = 0
left, chance = F(0), F(1, 2**K)               # E f(w+); the chance that device 2 is drawn n times
for n in range(K + 1):
    left += chance * f((n * exact + (K - n) * inexact) / K)
    chance = chance * (K - n) / (n + 1)
def rho(gamma):
    c = B * (1 + gamma)
    return (1 - gamma * B - L * c / m) / mu - c / 8 / m - L * c**2 / m**2 * (F(1, 2) + F(2 * 16 + 2, K))
assert rho(F(1, 2)) > 0 and rho(F(0)) > 0     # so rho^t > 0 for every draw
right = f(F(0)) - rho(F(0))                   # what is promised if device 2 is drawn K times
""",
)


def rho_of_the_draw(formula: Any, number: int) -> tuple[Any, Any]:
    """Corollary 9's ρ^t where device 1 is not drawn, by the formula and as the program has it."""
    d = Fraction(1, 1000)
    values = {"mu": Fraction(1), "L": d, "L_minus": d, "B": Fraction(1), "gammas": [Fraction(0)] * 2}
    try:
        rho = formula(**values, K=Fraction(128))
    except Irrational:  # only where the formula has been changed
        rho = None
    return rho, -replay(DRAWN_LARGEST).right
