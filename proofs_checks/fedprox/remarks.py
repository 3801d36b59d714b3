"""What is said of FedProx's statements beside their proofs: notes, readings, misprints, worst known instances."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from fractions import Fraction
from functools import partial
from typing import Any

from fedconvex.claims.on_runs.federations import AnswerError, ExactFederation
from fedconvex.claims.terms import number, parameter
from fedconvex.methods import FedProx
from fedconvex.participation import Weighted
from fedconvex.problems.quadratics import Quadratic
from fedconvex.proofs_checks.evidence import CodeComparison, FailingLine
from fedconvex.proofs_checks.fedprox import comparisons as beside
from fedconvex.proofs_checks.fedprox.tightness import tightness
from fedconvex.proofs_checks.readings import Reading
from fedconvex.proofs_checks.remarks import Remarks, remarks_on
from fedconvex.proofs_checks.witnesses import Witness, replay
from fedconvex.statements.functions import Irrational
from fedconvex.statements.statement import Statement, key_of
from fedconvex.theory import fedprox

# FedProx: counterexamples to what is printed, as programs that run alone.

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


# FedProx, Corollary 9: a federation that breaks its claim for one of the draws that are possible in it.

HALF, SMALL = Fraction(1, 2), Fraction(1, 1000)


def only_the_exact_device_is_drawn() -> ExactFederation:
    """Two devices with F_k(w) = w − w²/2000, of which the second answers exactly; the first one has γ = 1/2.

    A draw of K = 128 devices has the second one only with probability 2^−128. Then γ^t = 0 (`gamma_drawn`), and a
    decrease by about 7/8 is promised; in expectation it is about 3/4.
    """
    numbers: dict[str, int | Fraction] = {
        "mu": 1,
        "L": SMALL,
        "L_minus": SMALL,
        "B": 1,
        "K": 128,
        "gamma": HALF,
        "gamma_drawn": 0,
    }
    problem = Quadratic([[[-SMALL]]] * 2, [[Fraction(-1)]] * 2, [HALF, HALF])
    inexact, exact = (AnswerError(Fraction(size), (Fraction(0),)) for size in (1, 0))
    return ExactFederation(
        problem, FedProx(mu=Fraction(1)), [Fraction(0)], Weighted(128),
        {name: Fraction(x) for name, x in numbers.items()},
        answers="inexact", inexactness=HALF, deviations=((inexact, exact),),
    )  # fmt: skip


SAID: Mapping[str, Remarks] = {
    "definition3": Remarks(notes="Where all gradients vanish B is 1 by the paper's footnote, and so it is measured."),
    "theorem4": Remarks(
        notes="The paper speaks of non-convex F_k and L₋ > 0; neither is used, L₋ = 0 is covered. Nor is the notation "
        "α = 1/μ that it announces.",
        vacuous="ρ ≤ 0 unless γB + √2·B(1 + γ)/√K < 1, whatever μ is: so for every K ≤ 2B².",
    ),
    "remark5": Remarks(
        notes="“We need” is read as: it is necessary. The text before the remark announces “sufficient (but not "
        "necessary)” conditions, which these are not: for γ = 0, B = 1, K = 2, L = L₋ = 0 both hold, and "
        "ρ = 1/μ − 1/μ = 0 for every μ; with L > 0 or L₋ > 0 it is negative. Necessary and sufficient is "
        "γB + B(1+γ)√(2/K) < 1 (`fedprox.remark5sharper`): K > 2B² for γ = 0, in place of K > B².",
        reading=Reading("true as necessary, false as sufficient conditions", "as necessary conditions"),
    ),
    "remark5sharper": Remarks(
        notes="What is proved is the equation. The equivalence is read off it: b and c₃ are not negative, so ρ > 0 "
        "needs the first three terms to be positive together; and if they are, a large μ̄ makes the rest small."
    ),
    "theorem6": Remarks(
        notes="T = O(Δ/(ρε)) with constant 1. The text before it prints S_s for S_ε. Theorem 4's assumptions in each "
        "round include B(w^t) ≤ B, which Assumption 1 gives only where ‖∇f(w^t)‖² > ε.",
        vacuous="Where Theorem 4's ρ is not positive.",
    ),
    "equation7": Remarks(
        notes="The paper prints w_k^t for w^t in the first line.",
        reading=Reading("false: w_k^t is printed for w^t", "with w^t for w_k^t in the first line", AT_REST),
    ),
    "equation13": Remarks(notes="The factor 2 is not needed: E_k‖w_k − w̄‖² ≤ E_k‖w_k − w^t‖²."),
    "equation14": Remarks(notes="The paper says that ‖w̄ − w^t‖ is bounded by (7); it is by the display after (6)."),
    "corollary7": Remarks(
        notes="≈ is proved as: the decrease is at least ρ = 1/(24LB²). With the sharper Theorem 4 ρ is between 3 "
        "(B = 1) and 11/3 (B → ∞) times that. Theorem 4's own ρ at this μ and K = 4B² is 4(11/12 − 1/√2) − "
        "(2/3)(1 + √2)/B − 1/(3B²) of 1/(24LB²): negative for B ≤ 2, 0.50 for B = 5, less than 0.84 for every B. "
        "With μ = LB the decrease is 1/(4LB), for K ≥ 4B (`fedprox.corollary7sharper`).",
        reading=Reading("false for Theorem 4's ρ", "of the algorithm, not of Theorem 4's ρ", THEOREM4_AT_ITS_MU),
    ),
    "remark8": Remarks(
        notes="The constant is 24, with Corollary 7's μ and K ≥ 4B². The paper prints L_α for LΔ; the text before it "
        "has LΔ. For L = 0 an f that is bounded below is constant. The root of 1 + σ²/ε is enough: "
        "`fedprox.remark8sharper`.",
        reading=Reading("undefined: L_α is printed for LΔ", "with LΔ for L_α, up to constants"),
    ),
    "corollary9": Remarks(
        notes="γ^t is the maximum over the drawn devices, so ρ^t depends on the draw, over which E_{S_t} is taken: the "
        "conclusion is refuted for one draw, although ρ^t > 0 for every draw. What the proof says of E_k and the drawn "
        "devices fails in the same way. With the maximum over all devices both hold. An average of ρ^t over the draws "
        "on the right-hand side, which is not printed, is not refuted by this instance: there it is about 13/32.",
        breaks=only_the_exact_device_is_drawn,
        refutation=DRAWN_LARGEST,
        corrected="fedprox.corollary9corrected",
    ),
    "corollary10": Remarks(
        notes="B_ε is the least bound that Assumption 1 admits; the paper's “B_ε =” is B(w) at a point, of which B_ε "
        "is the supremum over ‖∇f(w)‖² > ε."
    ),
    "theorem11": Remarks(vacuous="ρ ≤ 0 unless (γ + (1+γ)√(2/K))√(1 + σ²/ε) < 1: so for every K ≤ 2(1 + σ²/ε)."),
    "equation15": Remarks(
        notes="≲ is proved as ≤, not from Theorem 4 as in the paper but from its sharper form, without B ≤ √K/2. From "
        "Theorem 4 it does not follow: with K = 8, B = 7/5, L = 0 its ρ is 3/(10μ), and (15) says 1/(2μ). The paper "
        "asks for B < √K before; Theorem 4 decreases for B < √(K/2) only (Remark 5).",
        vacuous="For μ ≤ 3LB².",
        reading=Reading("true", "of the algorithm with ≤; it does not follow from Theorem 4's ρ"),
    ),
    "equation16": Remarks(notes="≲ is proved as ≤, for all B ≥ 1."),
}


@remarks_on(*fedprox.PAPER.everything)
def remarks(statement: Statement) -> Remarks:
    """All that is said of the statement."""
    key = key_of(statement.number)
    said, known = SAID.get(key, Remarks()), tightness(statement, key)
    compared = _compared(key, statement.calculator.formula)
    return replace(said, tightness=known, compared=compared, misprints=_misprints(key))


def _compared(key: str, formula: Any) -> tuple[CodeComparison, ...]:
    known: Mapping[str, tuple[str, str, str, Callable[..., Any], int]] = {
        "definition1": (
            r"\|\nabla h(w^*;w_0)\| \le \gamma\|\nabla h(w_0;w_0)\|,\quad \nabla h(w;w_0)=\nabla F(w)+\mu(w-w_0)",
            "the inexactness that a run measures is this quotient, ∇h(w₀; w₀) being ∇F(w₀)", "Definition 1",
            partial(beside.inexactness_in_a_run, formula, 1, 1), 20),
        "definition2": (
            r"\|\nabla h_k(w^*;w_t)\| \le \gamma_k^t\|\nabla h_k(w_t;w_t)\|",
            "the same of every device in every round, as a run measures it", "Definition 2",
            partial(beside.inexactness_in_a_run, formula, 3, 2), 20),
        "definition3": (
            r"B(w) = \sqrt{E_k\|\nabla F_k(w)\|^2/\|\nabla f(w)\|^2}", "what `fedconvex.dissimilarity` measures",
            "Definition 3", partial(beside.dissimilarity_at_zero, formula), 20),
        "assumption1": (
            r"B(w) \le B_\epsilon \text{ for all } w \text{ with } \|\nabla f(w)\|^2 > \epsilon",
            "the least number that is not below any measured B(w) of such points", "Assumption 1",
            partial(beside.least_dissimilarity, formula), 20),
        "equation1": (
            r"f(w) = \sum_{k=1}^N p_kF_k(w) = E_k[F_k(w)]", "what a problem's value is", "(1)",
            partial(beside.value_of_problem, formula), 20),
        "equation2": (
            r"\min_w h_k(w;w^t) = F_k(w)+\tfrac\mu2\|w-w^t\|^2", "where it is least a client's exact answer lies",
            "(2)", partial(beside.lowest_of_subproblem, formula), 20),
        "theorem6": (
            r"T = \min\{t \ge 1: t \ge \tfrac\Delta{\rho\epsilon}\}", "what the statement's number is", "",
            partial(beside.least_number_of_rounds, formula), 20),
        "corollary9": (
            r"\rho^t \text{ of a draw without device 1, in the counterexample}",
            "the formula, and the program's number", "", partial(rho_of_the_draw, formula), 1),
    }  # fmt: skip
    return (CodeComparison(*known[key]),) if key in known else ()


def _misprints(key: str) -> tuple[FailingLine, ...]:
    B, K, L, mu, one = *map(parameter, ("B", "K", "L", "mu")), number(1)
    match key:
        case "remark5":
            rho = fedprox.rho.calculator.formula(mu=one, L=0 * one, L_minus=0 * one, B=B, gamma=0 * one, K=2 * one)
            return (FailingLine(
                r"\gamma B < 1,\ \tfrac B{\sqrt K} < 1 \Rightarrow \rho > 0 \text{ for some } \mu",
                "the text before announces sufficient conditions; for γ = 0 and K = 2 ρ is never positive",
                "before Remark 5", 0 * one, "<", rho, {"B": Fraction(5, 4)}, ((2 * one, B**2),),
            ),)  # fmt: skip
        case "equation15":
            rho = fedprox.rho.calculator.formula(mu=mu, L=L, L_minus=0 * one, B=B, gamma=0 * one, K=K)
            return (FailingLine(
                r"\rho \ge \tfrac1{2\mu}-\tfrac{3LB^2}{2\mu^2} \text{ for Theorem 4's } \rho",
                "as the paper derives it; at B = √K/2 Theorem 4 leaves (1 − 1/√2)/μ", "A.3, before (15)",
                1 / (2 * mu) - 3 * L * B**2 / (2 * mu**2), "<=", rho,
                {"B": Fraction(5, 4), "L": 0, "mu": 1, "K": 8}, ((B, one), (K, 4 * B**2)),
            ),)  # fmt: skip
        case "corollary9":
            first, second, largest, length = map(parameter, ("gamma_1", "gamma_2", "largest", "length"))
            return (FailingLine(
                r"E_k[(1+\gamma_k^t)\|\nabla F_k(w^t)\|] \le (1+\max_{k\in S_t}\gamma_k^t)E_k\|\nabla F_k(w^t)\|",
                "two devices with p = 1/2 and gradients of the same length, a draw of the second only",
                "after Corollary 9", length + (first + second) / 2 * length, "<=", (1 + largest) * length,
                {"gamma_1": 1, "gamma_2": 0, "largest": 0, "length": 1}, ((largest, second), (second, largest)),
            ),)  # fmt: skip
    return ()
