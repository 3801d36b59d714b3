"""What the FedDyn paper asserts in running text, in its order. m devices, of which P take part in a round."""

from fedconvex.statements.sentences import Sentence

SENTENCES = (
    Sentence(
        "feddyn.local_minima_are_inconsistent", "Section 1, footnote 1, page 2",
        "stationary points for global empirical loss demand that only the sum of the gradients of device empirical "
        "losses are zero",
        "There are devices whose gradients do not vanish at the minimiser of their mean.",
    ),
    Sentence(
        "feddyn.improves_over_scaffold", "Section 1, page 2",
        "our convergence rate for average loss with balanced data scales as O(1/T √(m/P)), substantially improving "
        "over the state-of-art (SCAFFOLD O(1/T m/P))",
        "√(m/P) ≤ m/P for P ≤ m devices a round.",
    ),
    Sentence(
        "feddyn.unaffected_by_heterogeneity", "Section 1, contributions, page 2",
        "FedDyn in theory is unaffected by heterogeneity, massively distributed data, and quality of communication "
        "links",
        "The expected suboptimality after some rounds is the same for devices with the same mean function, however "
        "different they are.",
        "The bounds for convex devices have the term (m/P)(1/α)(1/m)Σ‖∇L_k(θ_*)‖², which is the heterogeneity. They "
        "need such a term: started at the minimiser, FedDyn leaves it if the devices differ.",
    ),
    Sentence(
        "feddyn.fedprox_does_not_align", "Related work, page 3",
        "the resulting regularizer does not result in aligning the global and local stationary points",
        "There are devices for which FedProx with exact solutions converges elsewhere than to the minimiser; FedDyn "
        "converges to it.",
    ),
    Sentence(
        "feddyn.consensus_is_kept", "Section 2, page 4",
        "if we initialize at a consensus point, namely, θ_k^{t−1} = θ^{t−1}, we have, ∇R(θ, θ_k^{t−1}, θ^{t−1}) = 0 "
        "for θ = θ^{t−1}",
        "A device whose stored gradient is that at the server's point answers that point.",
    ),
    Sentence(
        "feddyn.limits_are_stationary", "Section 2, Key Property, page 5",
        "If local device models converge, they converge to the server model, and the convergence point is a "
        "stationary point of the global loss.",
        "Where a round with all devices changes nothing, every device answers the server's point, and the sum of the "
        "gradients there is 0.",
    ),
    Sentence(
        "feddyn.server_state", "Section 2, Key Property, page 5",
        "Now the server state h^t ≜ Σ_k ∇L_k(θ_k^t)",
        "The server's h is the sum of the stored gradients.",
        "It is their mean, (1/m)Σ_k∇L_k(θ_k^t), by the update of h in Algorithm 1.",
    ),
    Sentence(
        "feddyn.ignoring_the_term_freezes", "Section 2.1, FedDyn vs. SCAFFOLD, page 6",
        "ignoring this term, leads to freezing device updates",
        "θ^t is the only stationary point of L_k(θ) − ⟨∇L_k(θ^t), θ − θ^t⟩ + (α/2)‖θ − θ^t‖², L_k convex.",
    ),
    Sentence(
        "feddyn.second_vector_is_unavoidable", "Section 2.1, FedDyn vs. SCAFFOLD, page 6",
        "must be transmitted by the server, leading to increased bit-rate. Note that this is unavoidable",
        "With full participation, of which the sentence speaks, SCAFFOLD's devices cannot know the server's control "
        "variate c unless the server sends it.",
        "With full participation and option II, c^{t+1} is (θ^t − θ^{t+1})/(Ks) at server stepsize 1: devices that "
        "keep the last model know c without its being sent. With partial participation they do not.",
    ),
    Sentence(
        "feddyn.savings_over_all", "Section 3, Comparison of Methods, page 7",
        "We observe FedDyn results in communication savings compared to all baselines to reach a target accuracy.",
        "In every row of Tables 1 and 5 FedDyn transmits less than each baseline.",
        "True of Table 1. In Table 5 (1 % participation) baselines transmit less in several rows, such as MNIST, IID, "
        "98.3: FedDyn 529, FedProx 451.",
    ),
    Sentence(
        "feddyn.always_fewer_rounds", "Section 3, Moderate vs. Large Number of Devices, page 7",
        "FedDyn always achieves the target accuracy with fewer rounds and thus leads to significant saving.",
        "In every row of Table 1 FedDyn takes fewer rounds than SCAFFOLD, whose rounds are half of the models that "
        "the table counts.",
        "It transmits fewer models. In two rows of Table 1 SCAFFOLD takes fewer rounds: CIFAR-100, IID, 40.9: 143 "
        "against 159; Dirichlet (.3), 42.3: 165 against 170.",
    ),
    Sentence(
        "feddyn.table6_range", "Appendix A.1.1, page 13",
        "FedDyn leads to communication savings in each of the settings in range 1.1× to 7.6×",
        "The least and the largest ratio of a baseline's number to FedDyn's in Table 6 are 1.1 and 7.6, rounded.",
    ),
    Sentence(
        "feddyn.same_local_work", "Appendix A.1.1 and A.2, pages 13 to 16",
        "corresponds to the same amount of computation using above epoch list",
        "SCAFFOLD's K is the number of mini-batches in the epochs of the other methods, in every setting listed.",
    ),
    Sentence(
        "feddyn.points_per_device", "Appendix A.2, page 13",
        "each device has 600, 480, 500 and 500 datapoints in MNIST, EMNIST-L, CIFAR-10 and CIFAR-100 respectively",
        "A hundredth of the training samples of Table 3.",
    ),
    Sentence(
        "feddyn.alpha_and_the_rate", "Appendix A.3, page 16",
        "the value of α does not asymptotically affect convergence rate",
        "For two values of α the ratio of the bounds of Theorems 2, 3 and 4 stays bounded as T grows.",
        "True of Theorems 2 and 4, whose bounds are a constant divided by T. False of Theorem 3: its bound falls by "
        "the factor 1 + μ/α in every round.",
    ),
    Sentence(
        "feddyn.alphas_of_figure1", "Appendix A.3, page 16",
        "all configurations converge, but some of them converges to a better stationary points. This aligns with the "
        "theory because we guarantee convergence",
        "Theorem 4 is about the six values of α in Figure 1, from 1 to 0.001, with m = 100 and P = 10.",
        "Theorem 4 assumes α ≥ 20L m/P = 200L, so that it is about α = 1 for L ≤ 1/200 and about α = 0.001 for "
        "L ≤ 0.000005. The paper does not say how large the network's L is.",
    ),
    Sentence(
        "feddyn.one_step_if_losses_differ", "Appendix A.4, page 17",
        "FedAvg should do only one step update per device in each round to achieve global minima if device losses are "
        "different",
        "FedGD with several local steps is biased if the devices' functions differ.",
        "True in general, not for all functions that differ: quadratics with the same Hessian have no bias for any "
        "number of local steps.",
    ),
    Sentence(
        "feddyn.fedsplit_with_partial_participation", "Appendix A.4, page 17",
        "it might not be easy to get convergence theory of FedSplit in the partial participation setting",
        "No simple argument bounds FedSplit All, whose server averages the z_k of all devices.",
        "One line does: E mean‖z_k^+ − z_k*‖² ≤ (1 − (P/m)(1 − ρ²)) mean‖z_k − z_k*‖² with the factor ρ of full "
        "participation, for strongly convex devices, exact proximal steps and any stepsize.",
    ),
)  # fmt: skip
