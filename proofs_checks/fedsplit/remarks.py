"""What is said of FedSplit's statements beside their proofs: notes, readings, misprints, worst known instances."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from fractions import Fraction
from functools import partial
from typing import Any

from fedconvex.claims.terms import number, parameter
from fedconvex.proofs_checks.evidence import CodeComparison, FailingLine
from fedconvex.proofs_checks.fedsplit import counterexamples, exact_runs, tightness
from fedconvex.proofs_checks.readings import Reading
from fedconvex.proofs_checks.remarks import Remarks, remarks_on
from fedconvex.proofs_checks.tightness import Tightness
from fedconvex.proofs_checks.witnesses import Witness
from fedconvex.statements.statement import Statement, key_of
from fedconvex.theory import fedsplit

# FedSplit: counterexamples to what is printed, as programs that run alone.

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


DISTANCE = Remarks(
    notes="‖z^(1) − z*‖ depends on the clients' gradients at x*: z_j* = x* − s∇f_j(x*). The bound holds for every "
    "stepsize with κ replaced by max(1/(sℓ_*), sL^*)² (Theorem 1, sharper).",
    vacuous="none: for κ = 1 the first term vanishes",
    tightness=Tightness(
        tightness.distance,
        (2, 4, 1, 3),
        "b = 0: any number of equal clients, f(x) = (ℓx₁² + Lx₂²)/2, from (1, 0): every round multiplies the distance "
        "by 1 − 2/(√κ + 1), for all κ and t. With b > 0 the bound is approached as t → ∞, by errors that all point "
        "away.",
        attained=True,
    ),
)
LIMITS = Remarks(
    notes="(a) holds because the clients are equal from the second round on; that a limit is a fixed point needs the "
    "gradients' continuity, which a convex differentiable function on R^d has."
)
TUPLE = Remarks(
    notes="Printed with the tuple z* = (z_1*, …, z_m*) in 2z* − z_j* and in … − z*, where vectors of R^d are needed: "
    "it must be the average x* of the z_j*, as in Algorithm 1. Read literally the formula subtracts a tuple of m "
    "vectors from one, which is not defined for m > 1.",
    reading=Reading("undefined: a tuple of m vectors is subtracted from one", "with the average x* for the tuple z*"),
)
LOCAL_ERROR = Remarks(
    notes="Two readings: (15) asks for one b for all z, while (18) bounds the error at the point x_j^(t) where the "
    "proximal step is taken, in Algorithm 1 2x^(t) − z_j^(t); so b in (18) is that round's error. And x_j^(t) is the "
    "start of the gradient steps. Each step contracts by 1 − 2/(√κ + 1): Corollary 1, sharper.",
    # (15) asks for ‖prox_update_j(z) − prox_{sf_j}(z)‖ ≤ b for all z.
    reading=Reading(
        "true in round t, false if (15)'s b is for all z", "for the error at the point x_j^(t) of round t", OTHER_POINT
    ),
    tightness=Tightness(
        tightness.local_error,
        (1000, 1),
        "f(x) = (ℓx₁² + Lx₂²)/2, x along x₁: the error is (1 − 2/(√κ + 1))^e times the start's, so the quotient is "
        "((√κ − 1)/√κ)^e: it tends to 1 as κ → ∞, and is not reached.",
        attained=True,
    ),
)
# Why the kernel proves none of the formulas with the clients' matrices.
NO_CLAIM = (
    " What the kernel proves is the equation that this solves, {}, for clients' functions of any kind. That least "
    "squares turn it into this formula takes matrices, one for every client: claims have no linear maps, and so the "
    "formula is compared with the running code."
)
SAID: Mapping[str, Remarks] = {
    "equation4": Remarks(notes="Displayed as (4a), the clients' e steps, and (4b), the average."),
    "equation5": LIMITS,
    "proposition1": LIMITS,
    "equation6": Remarks(notes="Displayed as (6a), the clients' proximal steps, and (6b), the average."),
    "equation7": LIMITS,
    "proposition2": LIMITS,
    "equation9": Remarks(
        notes='"A_j full rank" is read as full column rank of one A_j, or of all of them below one another. With full '
        "rank of a wide A_j it fails: for m = 1, A = [1 0], b = 1 the rank is full, ΣAᵀA = [[1, 0], [0, 0]] is not "
        "invertible, and (1, 0) and (1, 1) both minimise." + NO_CLAIM.format("Σ_j∇f_j(x*) = 0 as in (12)"),
        reading=Reading(
            "true for full column rank, false for full row rank", "where all A_j together have full column rank", WIDE
        ),
    ),
    "equation10": Remarks(
        notes="The footnote requires ‖I − sA_jᵀA_j‖ < 1, which no s satisfies for an A_j without full column rank: "
        "with v in its kernel (I − sA_jᵀA_j)v = v. The formula needs only that the matrix in it is invertible; the "
        "norm condition makes the iterates converge, for which less suffices."
        + NO_CLAIM.format("(5), and (7) for FedProx's display between (9) and (10)"),
    ),
    "equation12": Remarks(
        notes="What is proved is that minimisers solve the inclusion. That its solutions are minimisers is convexity, "
        "of which the claim does not speak.",
        reading=Reading("true of minimisers; the converse is not claimed", "that minimisers solve the inclusion"),
    ),
    "equation13": TUPLE,
    "proposition3": TUPLE,
    "equation14": Remarks(notes="κ may be larger than every client's condition number: it compares different clients."),
    "equation16": DISTANCE,
    "theorem1": DISTANCE,
    "theorem1sharper": Remarks(
        tightness=Tightness(
            tightness.distance_any_stepsize,
            (1, 4, 3, 2, 2, 1),
            "Equal clients with the curvature at the end that determines q, and errors b that all point away from x*: "
            "equality for all s, ℓ_*, L^*, m, t and b.",
            attained=True,
        )
    ),
    "equation17": Remarks(
        notes="The last term of (17) is misprinted: + (u − x) for − α(u − x). The printed recursion diverges: on ½ℓu² "
        "its factor is 2 − αsℓ, at least 3/2 for the α of Corollary 1.",
        breaks=counterexamples.gradient_step,
        refutation=MISPRINTED_STEP,
        corrected="fedsplit.equation17corrected",
    ),
    "equation18": LOCAL_ERROR,
    "corollary1": LOCAL_ERROR,
    "corollary1sharper": Remarks(
        tightness=Tightness(
            tightness.local_error_sharp,
            (3, 2),
            "f(x) = (ℓx₁² + Lx₂²)/2, x along x₁ or x₂: every step multiplies the error by 1 − 2/(√κ + 1).",
            attained=True,
        )
    ),
    "equation19": Remarks(
        notes="As printed F_λ is (λ/m)-strongly convex, not λ-strongly convex as the next sentence says; with λ/2 in "
        "place of λ/(2m) both sentences hold, and Theorem 2's interval for λ makes the price of the regularisation "
        "ε/2.",
        breaks=counterexamples.two_flat_clients,
        refutation=NOT_SO_CONVEX,
        corrected="fedsplit.equation19corrected",
    ),
    "equation19corrected": Remarks(
        notes="What is proved is the strong convexity, in the form for midpoints; the smoothness is that of a sum."
    ),
    "theorem2": Remarks(
        notes="A round contracts by 1 − 2/(√κ_λ + 1) with κ_λ = (L^* + λ)/λ, and F − F* ≤ ε needs about √κ_λ rounds. "
        "(a) For every λ of the interval: with m = 1 and λ → 0 no count without λ is enough; the witness with m = 1 "
        "and larger n misses ε after any given multiple of the count. (b) For a chosen λ: near the interval's end √κ_λ "
        "is √(1 + mL^*D/ε), so a factor √m is missing in any case: the witness is of this kind, and no λ of the "
        "interval does better there. With λ of the order of that end, and m counted as a constant, the count holds "
        "(Theorem 2, corrected); its logarithm contains ‖z^(1) − z_λ*‖, and so the clients' gradients at the "
        "minimiser. What the program runs is one λ and m for 300 rounds; that no multiple of the count is enough, (a) "
        "and (b) for all n and m, is argued here and not run. With the λ/(2m) that (19) prints the same run is at "
        "6.194 after 300 rounds, still above 1/8.",
        breaks=partial(counterexamples.weak_regularisation, 100),
        refutation=TOO_SLOW,
        corrected="fedsplit.theorem2corrected",
    ),
    "theorem2corrected": Remarks(
        tightness=Tightness(
            tightness.regularised_rounds,
            (100, 9000),
            "f(x) = x²/2, one client: rounds that are needed, against those promised; the quotient tends to 1 as "
            "λ → 0 and then ε → 0.",
            attained=True,
        )
    ),
    "theorem2roundbyround": Remarks(
        vacuous="t below √κ_λ: the bound is then hardly less than ½L_λ‖z^(1) − z_λ*‖²",
        tightness=Tightness(
            tightness.regularised_gap,
            (1000, 1),
            "f(x) = Lx²/2, one client, t fixed: the quotient tends to 1 as λ → 0. As t → ∞, where only the price of "
            "the regularisation is left, it is Lλ/(L + λ)², at most 1/4.",
            attained=True,
        ),
    ),
    "equation21": Remarks(notes="The ridge stands inside the sum over the clients, and so counts m times."),
    "equation22": Remarks(
        notes="Two readings of ε. Relative to the start, as above, (22) holds with both constants ½. Absolute, “for "
        "any problem with condition number at most κ”, no number of rounds is enough: F and c·F have the same κ, and "
        "the gap is multiplied by c; see the refuted line. The claim is FedSplit's half; FedGD's, with one local step "
        "of size 2/(ℓ_* + L^*), is the lemma `claimed_theorems.FEDGD_ROUNDS`, which the kernel proves, too.",
        vacuous="ε = 1: no number of rounds is guaranteed to suffice",
        reading=Reading("true for a relative, false for an absolute ε", "for ε relative to the initial gap"),
        tightness=Tightness(
            tightness.rounds_to_gap,
            (2, 2, 5),
            "Rounds that FedSplit needs, against ½√κ log(1/ε) rounded up, on one client with curvature L along the "
            "start: one and one for κ = 4, ε = 2/5. For κ → ∞ the quotient tends to ½, as it does for FedGD.",
            attained=True,
        ),
    ),
}


@remarks_on(*fedsplit.PAPER.everything)
def remarks(statement: Statement) -> Remarks:
    """All that is said of the statement."""
    key = key_of(statement.number)
    compared = _compared(key, statement.calculator.formula)
    return replace(SAID.get(key, Remarks()), compared=compared, misprints=_misprints(statement, key))


EXTREMAL = (  # s, ℓ_*, L^*, √m, t, b
    (1, 4, 9, 2, 3, 1), ("1/9", 1, 9, 1, 2, "1/2"), ("1/2", 1, 4, 3, 4, 0), (1, "1/9", 9, 2, 1, 2), (2, 3, 3, 1, 3, 1),
)  # fmt: skip


def _compared(key: str, formula: Any) -> tuple[CodeComparison, ...]:
    def of(compare: Callable[[Any, int], Any]) -> Callable[[int], Any]:
        return lambda n: compare(formula, n)

    known: Mapping[str, tuple[tuple[Any, ...], ...]] = {
        "equation1": ((
            r"F(x) = \textstyle\sum_{j=1}^mf_j(x)", "with f_j = m w_j times a client's function, m times the weighted "
            "mean that runs", "(1)", of(exact_runs.objective)),),
        "equation2": ((
            r"F(x) = \textstyle\sum_{j=1}^mf_j(x_j)", "the clients' values at a point for each", "(2)",
            of(exact_runs.consensus)),),
        "equation8": ((
            r"F(x) = \textstyle\sum_jf_j(x),\quad f_j(x) = \tfrac12\|A_jx-b_j\|^2", "(1), by the running code", "(8)",
            of(exact_runs.least_squares_value)),),
        "equation9": ((
            r"x_{\mathrm{ls}}^* = \left(\textstyle\sum_jA_j^\top A_j\right)^{-1}\sum_jA_j^\top b_j",
            "the exact minimiser of the running code", "(9)", of(exact_runs.least_squares_minimiser), 10),),
        "equation10": (
            (r"x_{\mathrm{FedGD}}^* = \Big(\textstyle\sum_jA_j^\top A_j\{\sum_{k<e}(I-sA_j^\top A_j)^k\}\Big)^{-1}"
             r"\Big(\sum_j\{\sum_{k<e}(I-sA_j^\top A_j)^k\}A_j^\top b_j\Big)", "exact fixed points of the running code",
             "(10)", of(exact_runs.least_squares_fedgd), 12),
            (r"\Big(\textstyle\sum_j\{I-(I+sA_j^\top A_j)^{-1}\}\Big)^{-1}\Big(\sum_j(A_j^\top A_j+\tfrac1sI)^{-1}"
             r"A_j^\top b_j\Big)", "exact fixed points of FedProx", "between (9) and (10)",
             exact_runs.least_squares_fedprox, 10)),
        "equation14": ((
            r"\ell_* = \min_j\ell_j,\quad L^* = \max_jL_j,\quad \kappa = \tfrac{L^*}{\ell_*}",
            "the constants that the running code measures", "(14)", of(exact_runs.conditioning)),),
        "equation15": ((
            r"\|\mathrm{prox\_update}_j(z)-\mathrm{prox}_{sf_j}(z)\|", "of two gradient steps, by the running code",
            "(15)", of(exact_runs.prox_error)),),
        "theorem1sharper": ((
            r"\|x^{(t+1)}-x^*\| = \delta^t\tfrac{\|z^{(1)}-z^*\|}{\sqrt m}+(q+1)(1-\delta^t)b",
            "attained: equal clients with the curvature that determines q, errors that point away from x*", "",
            lambda n: tightness.with_errors(formula, EXTREMAL[n]), len(EXTREMAL)),),
        "equation19corrected": ((
            r"\mathrm{prox}_{sf_j}\text{ of the regularised clients}",
            "what RegularizedFedSplit runs is FedSplit on these clients", "",
            of(tightness.regularised_runs), 6),),
        "equation20": ((
            r"\textstyle\sum_j\sum_i\log(1+e^{-b_{ij}a_{ij}^\top x})",
            "the running code, whose clients have means over samples, with weights n_j; in balls", "(20)",
            of(exact_runs.logistic)),),
        "equation21": ((
            r"\textstyle\sum_j\big\{\sum_i\sum_k\log(1+e^{-b_{ijk}a_{ij}^\top x_k})"
            r"+\tfrac\lambda2\sum_k\|x_k\|^2\big\}", "one logistic regression with a ridge for each class; in balls",
            "(21)", of(exact_runs.one_against_all)),),
    }  # fmt: skip
    return tuple(CodeComparison(*comparison) for comparison in known.get(key, ()))


def _misprints(statement: Statement, key: str) -> tuple[FailingLine, ...]:
    formula, one = statement.calculator.formula, number(1)
    m, L, epsilon, D = map(parameter, ("num_clients", "L", "epsilon", "squared_distance"))
    match key:
        case "equation17":
            alpha, s, slope, u, x = map(parameter, ("local_stepsize", "stepsize", "gradient", "u", "x"))
            return (FailingLine(
                r"u-\alpha\nabla h_j(u) = u-\alpha s\nabla f_j(u)+(u-x)", "α multiplies the whole gradient", "(17)",
                u - alpha * (s * slope + u - x), "=", u - alpha * s * slope + (u - x),
                {"local_stepsize": 1, "stepsize": 1, "gradient": 1, "u": 1, "x": 0},
            ),)  # fmt: skip
        case "equation19":
            weight, d = parameter("regularizer"), (parameter("d_1"), parameter("d_2"))
            printed = formula(values=(0 * one, 0 * one), squared_distances=d, regularizer=weight)
            return (FailingLine(
                r"\tfrac\lambda2\|z\|^2 \le F_\lambda(z)\quad(f_j=0,\,x^{(1)}=0)", "λ-strong convexity, for m = 2",
                "(19)", weight / 2 * (d[0] + d[1]), "<=", printed, {"d_1": 0, "d_2": 1, "regularizer": 1},
            ),)  # fmt: skip
        case "theorem2":
            largest = fedsplit.largest_regularizer.formula(num_clients=m, squared_distance=D, epsilon=epsilon)
            count = formula(L=L, squared_distance=D, epsilon=epsilon)
            return (FailingLine(
                r"\kappa_\lambda = \tfrac{L^*+\lambda}\lambda \le \tfrac{L^*\|x^{(1)}-x^*\|^2}\varepsilon",
                "what the count would need of the condition number, for the largest λ", "Theorem 2",
                (L + largest) / largest, "<=", count**2,
                {"L": 1, "epsilon": 1, "num_clients": 2, "squared_distance": 1},
            ),)  # fmt: skip
        case "equation22":
            c = parameter("c")
            return (FailingLine(
                r"F(x^{(T)})-F^* \le \varepsilon\quad\text{for any problem with condition number at most }\kappa",
                "f(x) = c(x₁² + 4x₂²)/2 from (1, 0): after a round the gap is c/18, as large as one likes", "(22)",
                c / 18, "<=", epsilon, {"c": 1, "epsilon": Fraction(1, 32)},
            ),)  # fmt: skip
    return ()
