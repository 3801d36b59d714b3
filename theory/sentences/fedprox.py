"""What the FedProx paper asserts in running text, in its order."""

from fedconvex.statements.sentences import Sentence

SENTENCES = (
    Sentence(
        "fedprox.dropping_is_more_heterogeneous", "Section 1",
        "both dropping stragglers … or naively incorporating partial information from stragglers … implicitly "
        "increases statistical heterogeneity",
        "The dissimilarity B(w) of the devices that are left is larger than that of all devices.",
        "It may be larger or smaller: without a device whose gradient is unlike the others' it is smaller.",
    ),
    Sentence(
        "fedprox.dropping_is_biased", "Section 2",
        "may induce bias in the device sampling procedure if the dropped devices have specific data characteristics",
        "There are devices such that a method that is unbiased with all of them converges elsewhere if one is always "
        "dropped.",
    ),
    Sentence(
        "fedprox.more_iterations", "Section 3, before Definition 1",
        "additional local iterations corresponding to more exact local solutions",
        "More local gradient steps make γ smaller.",
        "True for convex subproblems and stepsizes below 2/(L + μ); for larger ones the local steps may diverge, and γ "
        "grows.",
    ),
    Sentence(
        "fedprox.chosen_with_probability", "Algorithms 1 and 2",
        "Server selects a subset S_t of K devices at random (each device k is chosen with probability p_k)",
        "There is a random set of K devices that contains device k with probability p_k, for every k.",
        "Only for K = 1: the mean size of such a set is Σp_k = 1. The proof holds for K independent draws with "
        "probabilities p_k, in which a device may come twice; their plain average has the mean Σp_k w_k. A set of K "
        "distinct devices has that mean if it contains device k with probability K p_k, which needs p_k ≤ 1/K.",
    ),
    Sentence(
        "fedprox.distinct_devices", "Algorithm 2 with Theorem 4",
        "where S_t is the set of K devices chosen at iteration t",
        "Theorem 4 holds if K distinct devices are drawn one after another, each with probabilities in the ratio of "
        "the p_k that are left (such as `numpy.random.choice(N, K, replace=False, p=p)`).",
        "False where p is not uniform: the plain average then has the mean Σ(π_k/K)w_k, π_k the probability that k is "
        "in the set, and not Σp_k w_k. True for K independent draws, for which `fedprox.theorem4` is proved.",
    ),
    Sentence(
        "fedprox.proximal_term_restricts", "Section 3.2",
        "restricting the local updates to be closer to the initial (global) model without any need to manually set "
        "the number of local epochs",
        "With a given number of local gradient steps of a given size, a larger μ leaves the device closer to w^t.",
        "True of exact solutions, where (6) has ‖w_k^{t+1} − w^t‖ ≤ ‖∇F_k(w^t)‖/μ for convex devices. Two steps of "
        "size s with sμ > 4 end farther from w^t than without the term where F_k is nearly linear; local steps need "
        "s below 2/(L + μ).",
    ),
    Sentence(
        "fedprox.subproblems_are_convex", "Section 3.2",
        "when F_k is non-convex, h_k will be convex, and when F_k is convex, it becomes μ strongly convex",
        "For μ ≥ L₋ the subproblem is convex, and for convex F_k it is μ-strongly convex.",
    ),
    Sentence(
        "fedprox.fedavg_is_special", "Section 3.2",
        "FedAvg is a special case of FedProx with (1) μ = 0, (2) the local solver specifically chosen to be SGD",
        "FedProx at μ = 0 with e local gradient steps has the points of FedGD with e steps.",
    ),
    Sentence(
        "fedprox.constant_gamma", "Section 3.2",
        "a constant γ (corresponding to the number of local epochs) across devices and updating rounds",
        "Devices that take the same number of local gradient steps have the same γ.",
        "Devices with other curvatures reach another γ: |1 − s(h + μ)|^e for a quadratic of curvature h.",
    ),
    Sentence(
        "fedprox.decreasing_stepsize", "Section 4",
        "in order for stochastic methods to converge to a stationary point, a decreasing step-size is required",
        "No stochastic method with a constant stepsize converges to a stationary point, whatever the devices.",
        "True where the devices' gradients do not all vanish at the solution. Where they do, a constant stepsize will "
        "do, with one random device a round.",
    ),
    Sentence(
        "fedprox.B_is_at_least_one", "Section 4.1, after Definition 3",
        "Thus, B(w) ≥ 1",
        "‖∇f(w)‖² ≤ E_k‖∇F_k(w)‖².",
    ),
    Sentence(
        "fedprox.B_measures_dissimilarity", "Section 4.1, after Definition 3",
        "the larger the value of B(w), the larger is the dissimilarity among the local functions",
        "Of two sets of devices the one with the larger B(w) has the larger E_k‖∇F_k(w) − ∇f(w)‖², the measure that "
        "the paper's experiments use.",
        "B(w)² − 1 is that variance divided by ‖∇f(w)‖², so that it is also large where f is nearly stationary.",
    ),
    Sentence(
        "fedprox.B_of_iid_data", "Section 4.1, after Definition 3",
        "as min_k n_k → ∞, it follows that B(w) → 1 for every w",
        "For devices with n i.i.d. samples each, B(w) tends to 1 in probability, at every w.",
        "True where the gradient of the expected risk is not 0. At its minimiser both gradients vanish at the same "
        "rate: with two devices B(w)² ≥ 2 has a probability of at least ½ for every n.",
    ),
    Sentence(
        "fedprox.mu_bar_is_not_necessary", "Section 4.2, after Theorem 4",
        "we require μ̄ > 0, which is a sufficient but not necessary condition for FedProx to converge",
        "There are devices and a μ < L₋ for which FedProx converges to the minimiser. (Definition 1 calls a point at "
        "which the subproblem's gradient vanishes a 0-inexact solution.)",
    ),
    Sentence(
        "fedprox.variance_is_more_restrictive", "Section 4.2, after Theorem 4",
        "a more common (though slightly more restrictive) bounded variance assumption",
        "There are devices of bounded dissimilarity whose gradients' variance is not bounded.",
    ),
    Sentence(
        "fedprox.remark5_is_sufficient", "Section 4.2, before Remark 5",
        "We next provide sufficient (but not necessary) conditions that ensure ρ > 0 in Theorem 4",
        "γB < 1 and B/√K < 1 imply that ρ > 0 for some μ.",
        "They are necessary and not sufficient; γB + B(1 + γ)√(2/K) < 1 is both (`fedprox.remark5sharper`).",
    ),
    Sentence(
        "fedprox.increase_mu", "Section 4.2, after Corollary 7",
        "to solve the problem with increasingly higher accuracies using FedProx, one needs to increase μ "
        "appropriately",
        "The larger μ is, the closer to the minimiser is the point to which FedProx with exact solutions converges; "
        "for no μ is it the minimiser.",
    ),
    Sentence(
        "fedprox.same_as_sgd", "Section 4.2, after Corollary 7; Remark 8",
        "the number of required steps to achieve accuracy ε is",
        "LB²Δ/ε with Corollary 10's B is LΔ/ε + LΔσ²/ε². (Corollary 7's B ≤ ½√K then requires K ≥ 4(1 + σ²/ε) "
        "devices in every round, which SGD does not.)",
    ),
    Sentence(
        "fedprox.worse_than_sgd", "Section 4.2, after Remark 8",
        "it is possible for local updating schemes such as FedProx to perform worse than distributed SGD",
        "There are devices and a number of rounds after which FedProx with exact solutions has a larger f than "
        "gradient descent.",
    ),
    Sentence(
        "fedprox.corollary9_proof", "Section 4.2, after Corollary 9",
        "noting the fact that E_k[(1 + γ_k^t)‖∇F_k(w^t)‖] ≤ (1 + max_{k∈S_t} γ_k^t) E_k[‖∇F_k(w^t)‖]",
        "The expectation over all devices is bounded with the largest γ of the drawn devices.",
        "True with the largest γ of all devices (`fedprox.corollary9corrected`).",
    ),
    Sentence(
        "fedprox.table1", "Section 5.1, Table 1",
        "Statistics of four real federated datasets.",
        "The mean samples of a device are the samples divided by the devices, rounded.",
    ),
    Sentence(
        "fedprox.unsupported_scheme", "Section 5.1",
        "While this sampling scheme is not supported by our analysis",
        "There are devices for which the average with weights n_k over K devices that are drawn uniformly has another "
        "mean than Σp_k w_k.",
    ),
    Sentence(
        "fedprox.ten_devices", "Section 5.1",
        "We set the number of selected devices to be 10 for all experiments on all datasets.",
        "Theorem 4's ρ is positive for no μ where 2B² ≥ K: of these experiments it says something only in rounds in "
        "which B(w^t)² < 5.",
    ),
    Sentence(
        "fedprox.mu_replaces_epochs", "Section 5.3.2",
        "tune a best μ (a parameter that can be viewed as a re-parameterization of E)",
        "For a number of local steps there is a μ such that FedProx has the fixed points of that many steps, whatever "
        "the devices.",
        "The μ that replaces a number of steps depends on the devices' curvatures.",
    ),
    Sentence(
        "fedprox.candidates_for_mu", "Section 5.3.2, Choosing μ",
        "In all experiments, we tune the best μ from the limited candidate set {0.001, 0.01, 0.1, 1}.",
        "Theorem 4's ρ is not positive where L ≥ 2μ/3, whatever B ≥ 1, γ and K are: of μ = 1 it says something only if "
        "L < 3/2, of the best μ for Shakespeare, 0.001, only if L < 0.0015.",
    ),
    Sentence(
        "fedprox.variance_lower_bound", "Section 5.3.3",
        "which is lower bounded by B_ε (see Bounded Variance Equivalence Corollary 10)",
        "E_k‖∇F_k(w) − ∇f(w)‖² ≥ B_ε.",
        "Corollary 10 says that a variance of at most σ² has B_ε ≤ √(1 + σ²/ε); the variance is (B(w)² − 1)‖∇f(w)‖².",
    ),
    Sentence(
        "fedprox.mu_large_enough", "Appendix A.1, after (8)",
        "if we set the penalty parameter μ large enough, we can get a decrease in the objective value",
        "For every γ in [0, 1] a large μ makes f(w̄^{t+1}) < f(w^t) where w^t is not stationary.",
        "True for γB < 1. For γ = 1 the devices may answer w^t, for every μ.",
    ),
    Sentence(
        "fedprox.chosen_randomly", "Appendix A.1, after (13)",
        "the first inequality is a result of K devices being chosen randomly to get w^t",
        "If every device is in the set with probability K p_k, the mean square deviation of the average is at most "
        "1/K of the devices' own.",
        "True for K independent draws, and for sets of K that are all equally likely. The probabilities of single "
        "devices do not suffice: sets of devices that are alike have a larger deviation.",
    ),
)  # fmt: skip
