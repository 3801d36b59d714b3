"""What is said of FedDyn's statements beside their proofs: notes, readings, misprints, worst known instances."""

from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction
from functools import partial
from typing import Any

from fedconvex.claims.terms import parameter
from fedconvex.proofs_checks.evidence import CodeComparison, FailingLine
from fedconvex.proofs_checks.feddyn import comparisons as beside
from fedconvex.proofs_checks.feddyn.tightness import tightness
from fedconvex.proofs_checks.readings import Reading
from fedconvex.proofs_checks.remarks import Remarks, remarks_on
from fedconvex.proofs_checks.witnesses import Witness
from fedconvex.statements.statement import Statement, key_of
from fedconvex.theory import feddyn

alpha, L, m, P = map(parameter, ("alpha", "L", "num_clients", "num_active"))


def _of_two_devices(where: str, numbers: str, divisor: str, right: str) -> Witness:
    """One of two devices is drawn in each of T = 2 rounds from θ_k⁰ = θ⁰ = 0, where the objective is smallest."""
    program = f"""
from fractions import Fraction
T, minima = 2, (1, -1)  # L_k(θ) = ½(θ − minima[k])², so ∇ℓ(θ) = θ, and θ⁰ = 0 minimises ℓ
{numbers}
gammas = [Fraction(a, {divisor}) for a in minima]  # γ¹ for each drawn device
left = sum(gamma**2 for gamma in gammas) / 2 / T  # ∇ℓ(γ⁰) = 0
right = Fraction(0)  # {right}
"""
    return Witness(f"{where}, two devices, one of them drawn, T = 2", program)


ZERO = "any constant times ℓ(θ⁰) − ℓ_* = 0 and times Σ‖θ_k⁰ − θ⁰‖² = 0"
ANY_MODEL = _of_two_devices(
    "θ_k⁰ = θ⁰ = 0 with stored gradients 0", "alpha = 40", "1 + alpha", "ℓ(θ⁰) = ℓ_*, and θ_k⁰ = θ⁰"
)
ANY_MODEL_IN_RATES = _of_two_devices(
    "Theorem 1's third case: θ_k⁰ = θ⁰ = 0 with stored gradients 0", "m, P, L = 2, 1, 1", "1 + 30 * L * m // P", ZERO,
)  # fmt: skip
ANY_MODEL_OF_ONE_STEP = _of_two_devices("θ_k⁰ = θ⁰ = 0 with h_k⁰ = 0", "alpha = 100", "alpha", ZERO)
SAID: Mapping[str, Remarks] = {
    "equation1": Remarks(
        notes="Algorithm 1's input misses h⁰, which its first round uses; with h⁰ = 0 everything is as the proofs say. "
        "It asks for ∇L_k(θ_k⁰) = 0: devices start at minimisers of their own (the code starts with the stored "
        "gradient 0, which is all that the rounds use)."
    ),
    "equation3": Remarks(
        notes="Two misprints: θ^t stands for θ_* on the left, and the second sum lacks 1/m.",
        reading=Reading("false: two misprints", "with θ_* for θ^t, and with 1/m before the second sum"),
    ),
    "equation7": Remarks(
        notes="That θ̃_k^t does not depend on who is drawn needs one minimiser: it is unique where α exceeds minus the "
        "least curvature of L_k, so for convex devices always."
    ),
    "equation9": Remarks(
        notes="γ⁰, of which the theorems speak, is not defined by the first part, as nobody is drawn before the first "
        "round; by the second it is θ⁰ + h⁰/α = θ⁰."
    ),
    "theorem2": Remarks(
        notes="Lemma 1 itself gives 121/34 and 520/17 (3.56 and 30.6) in the place of 10 and 100; the sharper Theorem "
        "2 has 1/2 and, at α = 25L, at most 0.568. γ⁰ is θ⁰: the algorithm starts with h⁰ = 0, which its input misses.",
        vacuous="For T ≤ 20α/L, so for 500 rounds at least, the bound is not below (L/2)‖θ⁰ − θ_*‖², which the gap of "
        "θ⁰ itself does not exceed.",
    ),
    "theorem3": Remarks(
        notes="The printed factor can be read as 1/r^{T−1} or as 1/(r^T − 1). Both hold: R is at least r^{T−1}, and r "
        "is at most 2. The second divided by the first falls from α/μ for T = 1 to 1/r for large T. Theorem 1 needs "
        "the first: with the second its O(1/r^T) would hide the factor α/μ. Lemma 8 itself gives less than 3.32 and "
        "35.3 in the place of 20 and 400, as found numerically; the sharper Theorem 3 has at most 15/26 and 31/26.",
        reading=Reading("true in both readings", "as printed, with 1/r^{T−1} or 1/(r^T − 1)"),
        vacuous="As long as r^{T−1} ≤ 40α/L, which is 1200 or more, the bound is not below (L/2)‖θ⁰ − θ_*‖², which the "
        "gap of θ⁰ itself does not exceed.",
    ),
    "theorem1": Remarks(
        notes="The constants: 1240/3 with α = β, 300 with α = 30L√(m/P), and 90 with α = 30Lm/P. r = 1 + μ/α is that "
        "of the α used: in the first case 1 + μ/β. γ_T with the index below is not the last average γ^T: the text says "
        "that it is one of γ⁰, …, γ^{T−1}, each with probability 1/T. The third case needs the algorithm's input "
        "∇L_k(θ_k⁰) = 0, as Theorem 4 does: with θ_k⁰ = θ⁰ it would promise 0 where θ⁰ is a stationary point.",
        reading=Reading(
            "true with the algorithm's input, false for θ_k⁰ = θ⁰",
            "where ∇L_k(θ_k⁰) = 0, as the input of Algorithm 1 says, up to constants",
            ANY_MODEL_IN_RATES,
        ),
    ),
    "lemma10": Remarks(
        notes="The scaled lemmas add up to a larger κ₀, with +16L²Pm in its numerator where −16L²Pm is printed. So "
        "what is printed holds, and lemma10sharper says what the proof gives.",
        reading=Reading("true", "as printed; what its proof gives has a larger κ₀"),
    ),
    "lemma11": Remarks(vacuous="α ≤ 2L: the left side is not positive."),
    "lemma12": Remarks(
        notes="The devices' functions do not enter: smoothness, which the lemma assumes, is not needed."
    ),
    "theorem4": Remarks(
        notes="θ_k⁰ is read as the algorithm's input has it, ∇L_k(θ_k⁰) = 0, and h⁰ as their mean, 0. If θ_k⁰ were any "
        "model, say θ⁰ itself, with stored gradients 0, the theorem would be false: for L_1(θ) = ½(θ−1)² and "
        "L_2(θ) = ½(θ+1)², P = 1, α = 40 and θ⁰ = 0 it would promise 0, while T = 2 rounds give 1/(2·41²). The text "
        "before the proof of Lemma 10 says that this proves Theorem 2; Theorem 4 is meant.",
        reading=Reading(
            "true with the algorithm's input, false for θ_k⁰ = θ⁰",
            "where ∇L_k(θ_k⁰) = 0, as the input of Algorithm 1 says",
            ANY_MODEL,
        ),
    ),
    "theorem5": Remarks(
        notes="The constants: 151/15 with α = β, 50 with α = 50L√(m/P), and 200 with α = 50Lm/P. Algorithm 2 has the "
        "input ∇L_k(θ_k⁰) = 0: read as h_k⁰ = ∇L_k(θ_k⁰) = 0, so that θ_k⁰ is a stationary point of L_k. If θ_k⁰ were "
        "any model, say θ⁰ itself, and only h_k⁰ = 0, the third case would be false with any constant: for "
        "L_1(θ) = ½(θ−1)² and L_2(θ) = ½(θ+1)², P = 1 and θ⁰ = 0 it would promise 0, while E‖∇ℓ(γ_T)‖² = 1/(2α²) for "
        "T = 2.",
        reading=Reading(
            "true with the algorithm's input, false for θ_k⁰ = θ⁰",
            "where ∇L_k(θ_k⁰) = 0, as the input of Algorithm 2 says, up to constants",
            ANY_MODEL_OF_ONE_STEP,
        ),
    ),
    "equation15": Remarks(
        notes="A misprint: in the second part of (15) θ_k^t stands for θ̃_k^t. Algorithm 2 has two more: its input "
        "∇L_k(θ_k⁰) = 0 stands for h_k⁰ = 0 (and h⁰ is missing), and what devices that are not drawn keep is h_k, not "
        "∇L_k(θ_k).",
        reading=Reading("false: θ_k^t is printed for θ̃_k^t", "with θ̃_k^t for θ_k^t in the second part"),
    ),
    "lemma19": Remarks(
        notes="The displayed proof gives 8/α² where the lemma has 4/α²: its last line does not follow from the line "
        "before. The lemma holds, by bringing three vectors apart in place of four."
    ),
    "equation18": Remarks(
        notes="The multiplier of Lemma 15 is read as (1 + μ/(3α))·[(L+μ)/α³ + (8/α² + 4L²/α⁴)(1 + μ/α)] over the "
        "printed denominator: with it A_{t−1} and A_t telescope exactly."
    ),
    "equation20": Remarks(
        notes="Before (20) the paper says that both sides are scaled with α; what it displays is scaled with 4α. "
        "With α there is less than E‖∇ℓ(γ^{t−1})‖² on the left."
    ),
}


@remarks_on(*feddyn.PAPER.everything)
def remarks(statement: Statement) -> Remarks:
    """All that is said of the statement."""
    key = key_of(statement.number)
    formula = statement.calculator.formula
    return replace(
        SAID.get(key, Remarks()), tightness=tightness(statement, key), compared=_compared(key, formula),
        misprints=_misprints(key, formula),
    )  # fmt: skip


def _compared(key: str, formula: Any) -> tuple[CodeComparison, ...]:
    """Of definitions, and of what stands in the place of a printed line that fails."""
    every = "for every device, drawn or not, the running code's answer is the minimiser of this quadratic; drawn " \
        "devices' answers are the same whoever else is drawn"  # fmt: skip
    match key:
        case "equation1" | "equation7":
            answer = r"\theta_k^t" if key == "equation1" else r"\tilde\theta_k^t"
            shown = rf"{answer} = \arg\min_\theta L_k(\theta)-\langle\nabla L_k(\theta_k^{{t-1}}),\theta\rangle" \
                r"+\tfrac\alpha2\|\theta-\theta^{t-1}\|^2"  # fmt: skip
            return (CodeComparison(shown, every, f"({key[-1]})", partial(beside.beside_the_answers, formula)),)
        case "equation3":
            return (CodeComparison(r"\tfrac1m\sum_{k\in[m]}\nabla L_k(\theta_*) = 0", "it vanishes at the minimiser",
                                   "(3)", partial(beside.gradients_at, lambda f: f.minimiser, formula)),)  # fmt: skip
        case "equation15":
            shown, memories = r"\tilde h_k^t = h_k^{t-1}-\alpha(\tilde\theta_k^t-\theta^{t-1})", beside.memories_by
            return (CodeComparison(shown, "with θ̃_k^t", "(15)", partial(memories, everyone=True)),)
    return ()


def _misprints(key: str, formula: Any) -> tuple[FailingLine | CodeComparison, ...]:
    at: dict[str, Fraction | int] = {"L": 1, "num_clients": 2, "num_active": 1, "alpha": 100}
    terms = {"alpha": alpha, "L": L, "num_clients": m, "num_active": P}
    match key:
        case "equation3":
            return (
                CodeComparison(r"\nabla\ell(\theta^t) = \dots = 0", "as printed, with θ^t on the left", "(3)",
                               partial(beside.gradients_at, beside.after_a_round, formula), as_printed=True),
                CodeComparison(
                    r"\tfrac1m\sum_{k\in[m]}\nabla L_k(\theta) = "
                    r"\sum_{k\in[m]}E_{(x,y)\sim D_k}\nabla\ell_k(\theta;(x,y))",
                    "as printed, the second sum without 1/m: the two agree where both vanish, and else for m = 1 alone",
                    "(3)", partial(beside.sums_at_the_start, formula), as_printed=True),
            )  # fmt: skip
        case "equation15":
            return (CodeComparison(
                r"\tilde h_k^t = h_k^{t-1}-\alpha(\theta_k^t-\theta^{t-1})",
                "as printed: for a device that is not drawn θ_k^t is an old model, and this is not ∇L_k(θ^{t−1})",
                "(15)", partial(beside.memories_by, everyone=False), as_printed=True,
            ),)  # fmt: skip
        case "lemma10":
            constants = feddyn.nonconvex_constants.formula(**terms)
            return (FailingLine(
                r"\kappa_0 = \tfrac1{2\alpha}\tfrac{\alpha^2P^2-4\alpha LP^2-32L^2m^2-16L^2Pm-24L^2P^2}z",
                "the multiple of E‖∇ℓ(γ^{t−1})‖² that the sum of the scaled lemmas leaves: it has +16L²Pm", "Lemma 10",
                1 / (2 * alpha) - 4 / alpha**2 * constants.z2, "=", constants.kappa0, at,
            ),)  # fmt: skip
        case "lemma19":
            B, gradient_square, changed = map(parameter, ("B", "gradient_square", "changed"))
            printed = formula(B=B, gradient_square=gradient_square, alpha=alpha, L=L)
            before = (8 * B + 4 * changed + 4 * gradient_square) / alpha**2
            lemma21 = feddyn.lemma21.calculator.formula(
                B_next=B, gradient_square_next=gradient_square, alpha=alpha, L=L
            )
            return (FailingLine(
                r"\le \left(\tfrac4{\alpha^2}+\tfrac{8L^2}{\alpha^4}\right)B_{t-1}"
                r"+\left(\tfrac4{\alpha^2}+\tfrac{8L^2}{\alpha^4}\right)E\|\nabla\ell(\gamma^{t-1})\|^2",
                "Lemma 21: but from the line before there follows 8/α² in place of the first 4/α²",
                "proof of Lemma 19, last line", before, "<=", printed,
                {"alpha": 1, "L": 1, "B": 1, "gradient_square": 0, "changed": Fraction(3, 2)}, ((lemma21, changed),),
            ),)  # fmt: skip
        case "equation20":
            scales = feddyn.one_gradient_nonconvex_scales.formula(**terms)
            slope = 1 / (2 * alpha) - L**2 / alpha**3 - scales.scale19 * (4 / alpha**2 + 8 * L**2 / alpha**4)
            slope -= scales.scale20 * L**2 / alpha**2 * 4 * P / (2 * m - P)
            return (FailingLine(
                r"\text{scaled by } \alpha: 1 \le \alpha\left(\tfrac1{2\alpha}-\dots\right)",
                "scaling by α, as the paper says, leaves less than E‖∇ℓ‖² on the left", "before (20)", 1 + 0 * alpha,
                "<=", alpha * slope, at,
            ),)  # fmt: skip
    return ()
