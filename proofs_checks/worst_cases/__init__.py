"""Exact worst cases of federated methods on classes of clients, certified on both sides.

What can go wrong at most, over all clients of a class, all starts and any number of clients? Performance estimation
(Drori and Teboulle 2014; Taylor, Hendrickx and Glineur 2017) answers with a small semidefinite program, whose unknowns
are inner products of the vectors that a method produces, and function values. The answer here is an interval: a
certificate proves one bound, an instance attains the other. This is the way of one question through the folder:

    worst_case(FedProx(mu=2), SmoothConvex(1), metric="descent", dissimilarity=3/2)              worst_case.py
      │
      │ questions/   specification     checks the arguments, resolves defaults, makes numbers exact
      │              ratios            what the named metrics are as ratios of terms of the claim language
      │              symbolic_rounds   runs the method's own code on unknown vectors, draw by draw or with two moments
      │              terms             what terms mean there, as vectors, scalars, forms and lengths
      │              board             records each evaluation; interpolation inequalities between any two
      │              enumerated_board  the same with a function per client, where all draws are enumerated
      │              noisy_gradients   unbiased noise in the gradients of local steps
      │              settled_states    states after draws that are too many, as new vectors of known moments
      │              question          metric, divisor N and inequalities I_i >= 0 as quadratic forms
      ▼
    Program: the least t with  t·N − metric = Σ λ_i I_i + (a positive semidefinite form),  λ >= 0
      │
      │ instances/   line_federations  quadratics on a line with extreme curvatures: often the worst case, exactly
      │              replay            simulates the method on them in rationals, and evaluates the metric's terms there
      │              equal_curvatures  what two moments of every draw say on clients of one curvature
      │ certificates/  search          a certificate that follows from what these attain; else from a solver:
      │ programs/    solver            floating-point multipliers and Gram matrices
      │              refinement        Newton's method on them, to 45 digits
      │ certificates/  search          rational multipliers: read off, solved for, or moved into the interior
      │              certificate       checks the identity and the form exactly
      │ instances/   quadratic_clients, feasible_points   federations or Gram matrices from the solver's, made exact
      ▼
    WorstCase: .lower <= worst case <= .upper, .certificate, .federation(), .proof()             result.py

Many rounds. Where a bound for one round holds in every round, `certificates.composition` poses the question about one
round, and takes its bound to the power of T, or adds up what heterogeneity contributes.

Theorems. `certificates.lemmas` writes a certificate as a claim with a setting and a proof (`question_terms` has the
words), which the kernel replays. `theorems.discovery` certifies the worst case at many parameter values, fits rational
functions to the multipliers (`rational_fits`), runs the method again with `Parametric` numbers (`rational_functions`),
and has the kernel prove the lemma for all parameters (`parametric_theorem`).

Looseness. `looseness.claimed` reads a statement's question off its claim and setting (`questions.settings`), `sums`
finds the ratio that the claim bounds, and `asked` knows which statement has which question; `registry` and `textbooks`
hold the few that are posed by hand. `factor` divides the bound by the worst case, `quotients` and `products` solve
statements that compare two quantities of a round, and `table` makes the guide's page.

What is trusted. Exact, and decisive: the inequalities in `questions.function_classes` and `questions.board`, the
method's code that runs on vectors, the meaning of terms in `questions.terms`, who takes part and what is expected in
`symbolic`, the moments in `questions.settled_states` and `questions.noisy_gradients`, the check in
`certificates.certificate`, the simulation in `instances.replay`, the moments in `instances.equal_curvatures` and the
check in `instances.feasible_points`. Everything in `programs.solver`, `programs.refinement`, `certificates.search`,
`instances.line_federations` and `instances.quadratic_clients` only proposes, in floats where that is faster: an error
there makes an interval wider, or infinite, never wrong. No number of a solver is ever a bound.

Vocabulary. A *board* is the list of evaluations of the clients' functions; a *form* is a quadratic form in unknown
vectors plus a linear one in function values (`programs.quadratic_forms`); the *divisor* is what a metric is divided by,
such as ‖w_0 − x*‖²; *representatives* are the one or two clients that stand for any number, with mean and deviation
orthogonal.
"""
