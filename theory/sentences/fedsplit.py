"""What the FedSplit paper asserts in running text, in its order. s is the stepsize, e the number of local steps."""

from fedconvex.statements.sentences import Sentence

SENTENCES = (
    Sentence(
        "fedsplit.one_step_is_unbiased", "Section 2.1, after Proposition 1",
        "Proposition 1 implies that the limit of the sequence x^(t), when it exists, is a minimizer of the consensus "
        "problem",
        "For convex clients and e = 1 a fixed point of FedGD minimises the objective, whatever the stepsize.",
    ),
    Sentence(
        "fedsplit.several_steps_are_biased", "Section 2.1, after Proposition 1",
        "in general causes the method to have limit points which are not minimizers of the consensus problem",
        "For e > 1 there are least squares problems on which FedGD converges to a point other than the minimiser.",
    ),
    Sentence(
        "fedsplit.proximal_steps_are_biased", "Section 2.2, after Proposition 2",
        "When m > 1, these fixed point relations are, in general, different.",
        "There are two clients for which FedProx converges to a point where the sum of the gradients is not 0.",
    ),
    Sentence(
        "fedsplit.common_minimiser", "Section 2.2, after Proposition 2",
        "the fixed point relations 5 and 7 corresponding to FedGD and FedProx respectively, are both equivalent to the "
        "optimality condition",
        "If the convex clients have a common minimiser, the points that solve (5) are the minimisers, for any s > 0, "
        "as in Proposition 1.",
        "True for s < 2/L: gradient steps are then averaged maps, and the points that a mean of their compositions "
        "leaves in place are the common ones. For s ≥ 2/L other points may solve (5).",
    ),
    Sentence(
        "fedsplit.common_optima", "Section 2.2, after Proposition 2",
        "if the optima of f_j are exactly (or even approximately) the same, there would be little point in sharing "
        "data between devices",
        "If the clients have a common minimiser, a client that minimises its own function minimises the objective.",
        "True where the clients' minimisers are unique. Clients with fewer samples than parameters may have a common "
        "minimiser that none of them can find alone.",
    ),
    Sentence(
        "fedsplit.full_rank", "Section 2.3, before (9)",
        "When A_j are full rank, the solution to this problem is unique",
        "Matrices A_j of the largest rank that their shape allows make the least squares solution unique.",
        "True for full column rank, of one A_j or of all of them stacked.",
    ),
    Sentence(
        "fedsplit.small_stepsizes_converge", "Section 2.3, footnote 1",
        "s > 0 is small enough so that ‖I − sA_j^⊤A_j‖_op < 1, which ensures convergence",
        "FedGD converges from everywhere if every client's gradient step is a contraction.",
    ),
    Sentence(
        "fedsplit.figure1", "Section 2.3, text on Figure 1",
        "it also does not converge to the optimal solution as soon as e > 1",
        "On a least squares problem FedGD with 10 or with 100 local steps, and FedProx, converge to other points than "
        "the minimiser.",
    ),
    Sentence(
        "fedsplit.monotone", "Section 3.1, after (12)",
        "When the loss functions are convex, both ∇F and N_E are monotone operators",
        "Σ_j⟨∇f_j(x_j) − ∇f_j(y_j), x_j − y_j⟩ ≥ 0 for convex clients; and the normal cone of the consensus space is "
        "monotone, since ⟨u, x − y⟩ = 0 for u of mean 0 and consensus vectors x, y.",
    ),
    Sentence(
        "fedsplit.correct_fixed_points", "Section 3.2, before Proposition 3",
        "unlike FedGD and FedProx, it has the correct fixed points for the distributed problem",
        "On a problem on which FedGD and FedProx are biased, FedSplit converges to the minimiser.",
    ),
    Sentence(
        "fedsplit.geometric_convergence", "Section 3.3, before Theorem 1",
        "our method enjoys geometric convergence to the optimum, even with inexact proximal implementations",
        "FedSplit converges when the clients take one local step at Corollary 1's parameters: s = 1/√(ℓ_*L^*), "
        "α = 1/(1 + s(ℓ_* + L^*)/2), from the center of the proximal term.",
        "Theorem 1 needs one b for all rounds, and Corollary 1 bounds the error of a round by the distance of that "
        "round, which may grow. With exact proximal steps Theorem 1 holds. The library's local solvers minimise "
        "f_j + ‖· − v‖²/(2s), the paper's s f_j + ‖· − v‖²/2: pass `GradientDescent(stepsize=α*s)` for the paper's α.",
    ),
    Sentence(
        "fedsplit.rounds_with_exact_steps", "Section 3.3, after Theorem 1",
        "this occurs as soon as T exceeds",
        "There is a universal C with ‖x^(T) − x*‖ ≤ ε for all T > C√κ log(‖z^(1) − z*‖/(ε√m)).",
        "True with T − 1 in place of T: (16) says nothing of x^(1), the initial point, which may be farther than ε "
        "while the logarithm is as small as one likes.",
    ),
    Sentence(
        "fedsplit.ten_steps_suffice", "Section 3.3, after Corollary 1",
        "in practice, it suffices to take a relatively small number of gradient steps. … we find that e = 10 suffices",
        "As a rule: with ten local steps at Corollary 1's parameters the fixed point's suboptimality is at most 10⁻⁶ "
        "of the initial one.",
        "True on an instance with κ = 4, false on one with κ = 10,000. Corollary 1's factor (1 − 1/(√κ + 1))^e is "
        "small for e of the order of √κ.",
    ),
    Sentence(
        "fedsplit.regularised_modulus", "Section 3.3, after (19)",
        "is a λ-strongly convex and L_λ^* = (L^* + λ)-smooth function",
        "F_λ of (19), which adds (λ/(2m))‖z_j − x^(1)‖² to every client, is λ-strongly convex.",
        "It is (λ/m)-strongly convex; with (λ/2)‖z_j − x^(1)‖² it would be λ-strongly convex "
        "(`fedsplit.equation19corrected`).",
    ),
    Sentence(
        "fedsplit.nearly_optimal", "Section 3.3, after Theorem 2",
        "this faster convergence rate of Õ(t^{−2}) is nearly optimal for first-order algorithms",
        "No method of FedSplit's kind has a much faster rate than t⁻². The lower bound of the citation is of methods "
        "whose iterates are in the span of earlier gradients; FedSplit's proximal steps are no such method.",
        "The rate is that of the class of first-order methods, to which FedSplit does not belong: on the function of "
        "the lower bound itself FedSplit is below the bound. Which rate is optimal for proximal steps is not said.",
    ),
    Sentence(
        "fedsplit.ten_thousand", "Section 4, Figure 3",
        "the FedGD procedure requires on the order of 34000 iterations, whereas the FedSplit procedure requires "
        "roughly 400 iterations",
        "At κ = 10,000 and tolerance 10⁻³, FedGD with e = 1 needs 34,000 to 35,000 rounds with the step 1/L on the "
        "slowest direction, for a suboptimality of 10⁻³ of the initial one; FedSplit's contraction needs 300 to 400 "
        "for a distance of 10⁻³ of the initial one.",
    ),
    Sentence(
        "fedsplit.better_dependence", "Section 4, after (22)",
        "it has much better dependence on the condition number κ",
        "FedSplit's contraction 1 − 2/(√κ + 1) is at most that of gradient descent, (κ − 1)/(κ + 1), for all κ ≥ 1.",
    ),
)  # fmt: skip
