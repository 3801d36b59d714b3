"""FedProx, equations (9) to (14) and Theorem 4: from the mean of all answers to the average over K drawn devices.

Symbols for one draw: `new_value` = f(w^{t+1}), `slope` = L₀, `deviation_length` = ‖w^{t+1} − w̄^{t+1}‖ and
`step_length` = ‖w^{t+1} − w^t‖. Inequalities for every draw are averaged over the draws with `facts.averaged`.
"""

import sympy

from fedconvex.proofs_checks.engines.checks import Combination, Inequality, Special
from fedconvex.proofs_checks.engines.facts import (
    averaged,
    dissimilar,
    jensen,
    lipschitz,
    mean_value,
    named,
    root_of,
    triangle,
)
from fedconvex.proofs_checks.engines.hilbert import deviation, length, norm, square, vector
from fedconvex.proofs_checks.engines.sampling import Independent, Moments, second_moment
from fedconvex.proofs_checks.engines.signs import Domain
from fedconvex.proofs_checks.fedprox.drift import move
from fedconvex.proofs_checks.fedprox.notation import (
    ROOTS,
    B,
    K,
    L,
    Q,
    after,
    at_mean,
    d,
    g,
    gradient,
    gradient_norm,
    gradients,
    mean_step,
    server_step,
    steps,
    symbolic,
    value,
)
from fedconvex.proofs_checks.fedprox.step_lengths import mean_length, mean_moves, squared_moves
from fedconvex.proofs_checks.fedprox.tightness import (
    FAR_AND_MANY,
    along_a_line,
    around_a_kink,
    decreasing,
    deviating,
    of_deviations,
    sampling_cost_used,
    with_growing_slope,
)
from fedconvex.proofs_checks.proof import Proof, Relation, Step, conclusion, proves
from fedconvex.statements.functions import sqrt
from fedconvex.statements.statement import Statement
from fedconvex.theory import fedprox

new_value = sympy.Symbol("f(w⁺)", real=True)
slope = length("L₀")
away = vector("w⁺−w̄")
deviation_length, step_length = norm(away), length("w⁺−w")
deviation_square = sympy.Symbol("‖w⁺−w̄‖²", nonnegative=True)
mean_deviation, mean_product = length("E‖w⁺−w̄‖"), length("E‖w⁺−w‖‖w⁺−w̄‖")
mean_square_deviation = length("E‖w⁺−w̄‖²")
root = length("√E‖w⁺−w̄‖²")

# the point z between w̄ and w⁺ where the gradient is longest: z − w = (1 − s)(w̄ − w) + s(w⁺ − w)
s = sympy.Symbol("s", nonnegative=True)
to_z, to_z_length = (1 - s) * mean_step + s * (mean_step + away), length("z−w")
change = vector("∇f(z)−∇f(w)")
larger = sympy.Symbol("max(‖w̄−w‖, ‖w⁺−w‖)", nonnegative=True)
FIXED = (gradient_norm, mean_length)  # these lengths do not depend on the draw
BETWEEN = (
    sympy.Le(s, 1, evaluate=False),
    sympy.Ge(larger, mean_length, evaluate=False),
    sympy.Ge(larger, step_length, evaluate=False),
)


def slope_is_bounded(domain: Domain) -> tuple[Step, ...]:
    """The display after (9); the claim of the last step is its last bound on L₀.

    `larger` stands for the maximum of the two distances: the proof uses only that it is at least both.
    """
    between = domain & Domain(BETWEEN)
    changed = Relation(norm(change), "<=", L * to_z_length, domain, "the gradient changes little")
    near = Relation((1 - s) * mean_length + s * step_length, "<=", larger, between, "no farther than the farther end")
    first = Relation(slope, "<=", gradient_norm + L * larger, between, "L₀, by the larger distance")
    bound = symbolic(fedprox.local_lipschitz, mean_step=mean_length, step=step_length)
    second = Relation(slope, "<=", bound, domain, "L₀, by both distances")
    return (
        Step(r"\|\nabla f(z)-\nabla f(w^t)\| \le L\|z-w^t\|", "f is L-smooth", changed,
             Combination(facts=((1, lipschitz(change, to_z, L)), (L**2, root_of(to_z_length, square(to_z)))),
                         squared=True)),
        Step(r"(1-s)\|\bar w^{t+1}-w^t\|+s\|w^{t+1}-w^t\| \le \max(\dots)", "for 0 ≤ s ≤ 1", near, Inequality()),
        Step(r"L_0 \le \|\nabla f(w^t)\| + L\max(\|\bar w^{t+1}-w^t\|,\|w^{t+1}-w^t\|)",
             "L₀ = ‖∇f(z)‖ for a point z = (1 − s)w̄ + sw⁺ between; true of any number that is at least both distances",
             first,
             Combination(facts=((1, changed.fact), (1, triangle(
                 (slope, gradient + change), (gradient_norm, gradient), (norm(change), change))),
                                (L, triangle((to_z_length, to_z), ((1 - s) * mean_length, (1 - s) * mean_step),
                                             (s * step_length, s * (mean_step + away)))), (L, near.fact))),
             place="after (9), first inequality"),
        Step(r"\dots \le \|\nabla f(w^t)\| + L(\|\bar w^{t+1}-w^t\|+\|w^{t+1}-w^t\|)",
             "such a number is their sum; s does not occur", second,
             Special(first, ((larger, mean_length + step_length), (s, sympy.Integer(0)))),
             place="after (9), second inequality"),
    )  # fmt: skip


@proves(fedprox.equation9)
def value_at_server(statement: Statement) -> Proof:
    bound = symbolic(statement.calculator, lipschitz=slope, deviation=deviation_length)
    return Proof((
        Step(r"f(w^{t+1}) \le f(\bar w^{t+1}) + L_0\|w^{t+1}-\bar w^{t+1}\|",
             "L₀ is the largest ‖∇f‖ between the two points", Relation(new_value, "<=", bound, Domain.of(statement)),
             Combination(facts=((1, mean_value(new_value, at_mean, slope, deviation_length)),)), place="(9)"),
    ), tightness=along_a_line(statement))  # fmt: skip


@proves(fedprox.equation10)
def expected_value_at_server(statement: Statement) -> Proof:
    means = {new_value: after, at_mean: at_mean, slope * deviation_length: Q}
    bound = symbolic(statement.calculator)
    return Proof((
        Step(r"E_{S_t}[f(w^{t+1})] \le f(\bar w^{t+1}) + Q_t,\quad Q_t = E_{S_t}[L_0\|w^{t+1}-\bar w^{t+1}\|]",
             "(9), in expectation over the draw", Relation(after, "<=", bound, Domain.of(statement), "equation (10)"),
             Combination(facts=((1, averaged(conclusion(fedprox.equation9).fact, means, "the draws")),)),
             place="(10)"),
    ), tightness=around_a_kink(statement))  # fmt: skip


@proves(fedprox.equation11)
def sampling_costs_little(statement: Statement) -> Proof:
    domain = Domain.of(statement)
    slopes = slope_is_bounded(domain)
    cost, product = slope * deviation_length, step_length * deviation_length
    bound = symbolic(fedprox.local_lipschitz, mean_step=mean_length, step=step_length)
    first = Relation(cost, "<=", bound * deviation_length, domain, "equation (11), first line")
    means = {cost: Q, product: mean_product, deviation_length: mean_deviation}
    known = (gradient_norm + L * mean_length) * mean_deviation
    second = Relation(Q, "<=", known + L * mean_product, domain, "equation (11), second line")
    farther = Relation(
        product, "<=", mean_length * deviation_length + deviation_square, domain, "the triangle inequality"
    )
    squares = {
        product: mean_product, deviation_square: mean_square_deviation, deviation_length: mean_deviation
    }  # fmt: skip
    right = symbolic(
        statement.calculator,
        mean_step=mean_length,
        deviation=mean_deviation,
        mean_square_deviation=mean_square_deviation,
    )
    return Proof((
        *slopes,
        Step(r"Q_t \le E_{S_t}[(\|\nabla f(w^t)\|+L(\|\bar w^{t+1}-w^t\|+\|w^{t+1}-w^t\|))"
             r"\|w^{t+1}-\bar w^{t+1}\|]", "the bound on L₀; shown of every draw", first,
             Combination(facts=((deviation_length, slopes[-1].claim.fact),)), place="(11), first line"),
        Step(r"\dots \le (\|\nabla f(w^t)\|+L\|\bar w^{t+1}-w^t\|)E_{S_t}\|w^{t+1}-\bar w^{t+1}\|"
             r"+L\,E_{S_t}[\|w^{t+1}-w^t\|\cdot\|w^{t+1}-\bar w^{t+1}\|]",
             "in expectation: w̄ and w^t do not depend on the draw", second,
             Combination(facts=((1, averaged(first.fact, means, "the draws", FIXED)),)), place="(11), second line"),
        Step(r"\|w^{t+1}-w^t\| \le \|\bar w^{t+1}-w^t\| + \|w^{t+1}-\bar w^{t+1}\|",
             "the triangle inequality, times ‖w⁺ − w̄‖", farther,
             Combination(facts=((deviation_length, triangle(
                 (step_length, mean_step + away), (mean_length, mean_step), (deviation_length, away))),
                                (-1, root_of(deviation_length, deviation_square))))),
        Step(r"\dots \le (\|\nabla f(w^t)\|+2L\|\bar w^{t+1}-w^t\|)E_{S_t}\|w^{t+1}-\bar w^{t+1}\|"
             r"+L\,E_{S_t}\|w^{t+1}-\bar w^{t+1}\|^2", "this, in expectation",
             Relation(Q, "<=", right, domain, "equation (11)"),
             Combination(facts=((1, second.fact), (L, averaged(farther.fact, squares, "the draws", FIXED)))),
             place="(11), third line"),
    ), tightness=with_growing_slope(statement))  # fmt: skip


@proves(fedprox.equation12)
def mean_below_root_mean_square(statement: Statement) -> Proof:
    bound = statement.calculator.formula(mean_square_deviation=root**2)
    return Proof((
        Step(r"E_{S_t}\|w^{t+1}-\bar w^{t+1}\| \le \sqrt{E_{S_t}\|w^{t+1}-\bar w^{t+1}\|^2}", "Jensen's inequality",
             Relation(mean_deviation, "<=", bound, Domain.of(statement), "equation (12)"),
             Combination(facts=((1, jensen((root, server_step - mean_step), mean_deviation)),)), place="(12)"),
    ), tightness=of_deviations(statement))  # fmt: skip


@proves(fedprox.equation13)
def average_deviates_little(statement: Statement) -> Proof:
    domain = Domain.of(statement)
    away = deviation(steps)
    moments = second_moment(steps, steps, Independent(K))
    first = Relation(mean_square_deviation, "<=", square(away) / K, domain, "equation (13), first line")
    second = Relation(mean_square_deviation, "<=", 2 * square(steps) / K, domain, "equation (13), second line")
    third = Relation(mean_square_deviation, "<=", 2 / K * move**2 * square(gradients), domain, "(13), third line")
    one = squared_moves(domain)[0]
    every = averaged(one.claim.fact, {norm(d) ** 2: square(steps), norm(g) ** 2: square(gradients)})
    bound = symbolic(statement.calculator)
    meaning = named(mean_square_deviation, square(server_step - mean_step))
    return Proof((
        Step(r"E\langle\mathrm{avg}_S u,\mathrm{avg}_S v\rangle = \langle\bar u,\bar v\rangle"
             r"+\tfrac1K E_k\langle u_k-\bar u,v_k-\bar v\rangle",
             "K devices are drawn independently with probabilities p_k", moments, Moments(Independent(K))),
        Step(r"E_{S_t}\|w^{t+1}-\bar w^{t+1}\|^2 \le \tfrac1K E_k\|w_k^{t+1}-\bar w^{t+1}\|^2", "this, an equality",
             first, Combination(facts=((1, meaning), (1, moments.fact))), place="(13), first line"),
        Step(r"\dots \le \tfrac2K E_k\|w_k^{t+1}-w^t\|^2", "w̄ is the mean; without the 2 it holds as well", second,
             Combination(facts=((1, first.fact),), squares=((1 / K, away), (2 / K, mean_step))),
             place="(13), second line"),
        one,
        Step(r"\dots \le \tfrac2K\tfrac{(1+\gamma)^2}{\bar\mu^2}E_k\|\nabla F_k(w^t)\|^2", "(6)", third,
             Combination(facts=((1, second.fact), (2 / K, every))), place="(13), third line"),
        Step(r"\dots \le \tfrac{2B^2}K\tfrac{(1+\gamma)^2}{\bar\mu^2}\|\nabla f(w^t)\|^2", "the dissimilarity",
             Relation(mean_square_deviation, "<=", bound, domain, "equation (13)"),
             Combination(facts=((1, third.fact), (2 / K * move**2, dissimilar(gradients, B)))),
             place="(13), fourth line"),
    ), notes="The factor 2 is not needed: E_k‖w_k − w̄‖² ≤ E_k‖w_k − w^t‖².",
       tightness=deviating(statement))  # fmt: skip


@proves(fedprox.equation14)
def sampling_cost(statement: Statement) -> Proof:
    domain = Domain.of(statement)
    moves = mean_moves(domain)
    far = B * move * gradient_norm
    deviates = Relation(root, "<=", far * sqrt(2 / K), domain, "(13), its root")
    jensens = Relation(mean_deviation, "<=", far * sqrt(2 / K), domain, "(12) and (13)")
    bound = symbolic(statement.calculator)
    thirteen = conclusion(fedprox.equation13)
    return Proof((
        *moves,
        Step(r"\sqrt{E_{S_t}\|w^{t+1}-\bar w^{t+1}\|^2} \le \tfrac{\sqrt2}{\sqrt K}\tfrac{B(1+\gamma)}{\bar\mu}"
             r"\|\nabla f(w^t)\|", "the root of (13)", deviates,
             Combination(facts=((1, thirteen.fact), (-1, root_of(root, mean_square_deviation))), squared=True,
                         roots=ROOTS)),
        Step(r"E_{S_t}\|w^{t+1}-\bar w^{t+1}\| \le \tfrac{\sqrt2}{\sqrt K}\tfrac{B(1+\gamma)}{\bar\mu}"
             r"\|\nabla f(w^t)\|", "(12)", jensens,
             Combination(facts=((1, conclusion(fedprox.equation12).fact), (1, deviates.fact)), roots=ROOTS)),
        Step(r"Q_t \le \left(\tfrac{B(1+\gamma)\sqrt2}{\bar\mu\sqrt K}"
             r"+\tfrac{LB^2(1+\gamma)^2}{\bar\mu^2K}(2\sqrt{2K}+2)\right)\|\nabla f(w^t)\|^2",
             "(11) with these bounds, (13) and the display after (6)",
             Relation(Q, "<=", bound, domain, "equation (14)"),
             Combination(facts=(
                 (1, conclusion(fedprox.equation11).fact),
                 (gradient_norm + 2 * L * mean_length, jensens.fact),
                 (2 * L * far * sqrt(2 / K), moves[-1].claim.fact),
                 (L, thirteen.fact),
             ), roots=ROOTS), place="(14)"),
    ), notes="The paper says that ‖w̄ − w^t‖ is bounded by (7); it is by the display after (6).",
       tightness=sampling_cost_used(statement))  # fmt: skip


@proves(fedprox.theorem4)
def theorem4(statement: Statement) -> Proof:
    domain = Domain.of(statement)
    rho = symbolic(statement.calculator)
    decrease = Relation(after, "<=", value - rho * gradient_norm**2, domain, "Theorem 4")
    before = (fedprox.equation8, fedprox.equation10, fedprox.equation14)
    return Proof((
        Step(r"E_{S_t}[f(w^{t+1})] \le f(w^t)-\left(\tfrac1\mu-\tfrac{\gamma B}\mu"
             r"-\tfrac{B(1+\gamma)\sqrt2}{\bar\mu\sqrt K}-\tfrac{LB(1+\gamma)}{\bar\mu\mu}"
             r"-\tfrac{L(1+\gamma)^2B^2}{2\bar\mu^2}-\tfrac{LB^2(1+\gamma)^2}{\bar\mu^2K}(2\sqrt{2K}+2)\right)"
             r"\|\nabla f(w^t)\|^2", "(8), (10) and (14)", decrease,
             Combination(facts=tuple((1, conclusion(one).fact) for one in before), roots=ROOTS),
             place="after (14)"),
    ), vacuous="ρ ≤ 0 unless γB + √2·B(1 + γ)/√K < 1, whatever μ is: so for every K ≤ 2B².",
       notes="The paper speaks of non-convex F_k and L₋ > 0; neither is used, L₋ = 0 is covered. Nor is the notation "
             "α = 1/μ that it announces.",
       tightness=decreasing(statement, FAR_AND_MANY))  # fmt: skip
