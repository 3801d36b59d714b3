"""FedSplit: counterexamples to what is printed, as programs that run alone."""

from fedconvex.proofs_checks.witnesses import Witness

MISPRINTED_STEP = Witness(
    "f(u) = u²/2, s = 1, x = 0, u = 1, α = 1/2: the gradient step gives 0, the printed right side 3/2",
    """
from fractions import Fraction
# f(u) = u²/2, s = 1, x = 0: the local subproblem is h(u) = u²/2 + u²/2; one gradient step from u = 1, α = 1/2
u, x, s, alpha = Fraction(1), Fraction(0), Fraction(1), Fraction(1, 2)
gradient_of_f = u
gradient_of_h = s * gradient_of_f + (u - x)
left = u - alpha * gradient_of_h
right = u - alpha * s * gradient_of_f + (u - x)
""",
    "=",
)
NOT_SO_CONVEX = Witness(
    "m = 2, f_j = 0, λ = 1: F at distance 1 from its minimiser is 1/4, where λ-strong convexity asks for 1/2",
    """
from fractions import Fraction
# m = 2 clients with f_1 = f_2 = 0, x^(1) = 0, λ = 1; F(z) as printed in (19), at z = (0, 0) and at y = (1, 0)
m, strength = 2, Fraction(1)
def F(z):
    return sum(strength / (2 * m) * z_j**2 for z_j in z)
z, y = (Fraction(0), Fraction(0)), (Fraction(1), Fraction(0))
slope = Fraction(0)  # of F at z, which is its minimiser
left = F(z) + slope + strength / 2 * sum((b - a) ** 2 for a, b in zip(z, y))  # λ-strong convexity
right = F(y)
""",
)
TOO_SLOW = Witness(
    "n = 200, λ = 1/(n² − 1), the largest m with λ < ε/m, f_j(x) = x²/2, ε = 1/8: after 300 rounds, a hundred times "
    "√(L/ε), the gap is far above ε",
    """
from fractions import Fraction
# m clients with f(x) = x²/2 (L = 1), x^(1) = 1, x* = 0, ε = 1/8: the claimed count is √(L/ε) < 3, for every λ < ε/m.
n = 200
strength, m, epsilon = Fraction(1, n**2 - 1), (n**2 - 2) // 8, Fraction(1, 8)
assert 0 < strength < epsilon / m
s = (n**2 - 1) / Fraction(n)  # 1/√(λ(1 + λ))
assert s**2 * strength * (1 + strength) == 1
z = x = Fraction(1)  # equal clients: one stands for all
for t in range(300):  # a hundred times the claimed count
    v = 2 * x - z
    prox = (strength + v / s) / (1 + strength + 1 / s)  # of s(u²/2 + λ(u − 1)²/2)
    z = z + 2 * (prox - x)
    x = z
left = Fraction(int(m * x**2 / 2))  # F(x) − F*, rounded down
right = epsilon
""",
)
WIDE = Witness(
    "one client with A = [1 0], of full rank, and b = 1: a second point minimises, too",
    """
A, b = (1, 0), 1
value = lambda x: (A[0] * x[0] + A[1] * x[1] - b) ** 2
left = value((1, 1))  # a unique minimiser (1, 0) would make this larger
right = value((1, 0))
""",
    ">",
)
OTHER_POINT = Witness(
    "e = 1, ℓ_* = 1, L^* = 4 and f_j(u) = u²/2: x_j^(t) = 0 makes (18) 0, and z = 9 has an error",
    """
from fractions import Fraction
low, high, s = 1, 4, Fraction(1, 2)  # s = 1/√(ℓ_* L^*), so √κ = 2
alpha = 1 / (1 + s * Fraction(low + high, 2))
error = lambda z: abs((z - alpha * s * z) - z / (1 + s))  # one gradient step from z, and the proximal point of z
x, z = Fraction(0), Fraction(9)
left = error(z)
right = (1 - Fraction(1, 2 + 1)) * abs(x - x / (1 + s))
""",
)
