"""Lyapunov functions of federated methods: searched for by semidefinite programming, certified in rationals.

How fast do the errors of a method decrease, over all clients of a class, any number of clients, and its whole state?
A Lyapunov function V answers: V(next state) <= rate · V(state). This is the way of one question through the folder:

    lyapunov(Scaffold(stepsize=1/100, local_steps=10), SmoothStronglyConvex(1, 100))             lyapunov.py
      │
      │ state_vectors          the vectors of a state by name, of all clients or of groups that take equally many steps
      │ coordinates            which errors of the state can be reached, and which are not forgotten
      │ posed_round            plays the method's own code once on such errors: the next ones, and inequalities; where
      │                        some clients take part, rounds are local at random or gradients noisy, expected squares
      │ quadratic_federations  quadratics that may be the slowest; quadratic_rounds: their spectral radii, exactly;
      │                        drawn_federations, second_moments: of expected squares, where
      │                        clients are sampled
      ▼
    Program: V with  rate·V − V⁺ = Σ λ_i I_i + (a positive semidefinite form),  λ >= 0,  V positive definite
      │
      │ semidefinite           a solver's V and λ for a given rate, with the largest margin
      │ attained_vectors       rounds that attain the rate: the form vanishes on them, and only there need it
      │ functions              rational V and λ, checked exactly
      ▼
    Rate: .lower <= contraction <= .upper, .function, .federation()                              rate.py

Where clients take unequal numbers of local steps, each group of clients that take equally many has a mean and
deviations of its own (grouped_federations.py, grouped_rounds.py); where stepsizes repeat, a period is the round.

Questions beside it have V and prices in one program (priced_functions.py): what noise or heterogeneity adds to V in a
round (error_floors.py), and what V pays for f(w) − f* on convex clients
(sublinear_rates.py), for the last f(w) − f* alone by a potential that grows, and for ‖∇f(w)‖²
where clients need not be convex (descents.py, and drawn_descents.py where they are sampled; nonconvex_rates.py;
slow_descents.py has functions that decrease as little as they may).

Why a proof holds for every number of clients. Let every vector u_k of a round be ū + ũ_k, its mean over the m clients
plus its deviation, whose mean is 0. Then mean⟨u_k, v_k⟩ = ⟨ū, v̄⟩ + mean⟨ũ_k, ṽ_k⟩: every form here is a quadratic form
of the means plus the mean over the clients of one of the deviations.

 1. Take means and deviations of everything that a round of m clients makes, in any dimension. They obey the linear
    relations of `posed_round`, since the method's formulas are linear and treat all clients alike: sums and averages
    map means to means and deviations to deviations, and the server's vectors have no deviation.
 2. An interpolation inequality holds for each client's function. With one multiplier for all clients, its mean over
    them holds: an I_i >= 0, in which the mean of the function values is one unknown number.
 3. The proof says: rate·V − V⁺ − Σ λ_i I_i = A(means) + mean over k of B(deviations of client k), for matrices A and B
    that are positive semidefinite. Both terms are nonnegative for every m; so V⁺ <= rate·V.

Nothing in the proof depends on m; m = 1 has no deviations, and only A is used. With groups of clients this is said of
each: A is a form in the means of all groups, weighted by their shares, and there is a B for every group.

Where communication is skipped at random, or clients are drawn, all this is said of expectations: A and B are sums over
the outcomes with their probabilities, and the interpolation inequalities hold in each. A client that is not drawn keeps
its memory. Where that is a gradient, V measures the point that has it: a strongly convex F_k has every gradient at one
point. An idle client's point stays, and interpolation relates it to the points of the round.

Why it is about the true state. `coordinates` drops what is forgotten: errors u that change no evaluation, now or later,
and that are 0 after some rounds. The next state's coordinates depend on the coordinates alone, so that V is a function
of the state, and V⁺ <= rate·V along every run; all other errors are, after these rounds, linear in coordinates and
gradients of earlier rounds, and decrease at the same rate.

Momentum gains only where V sees the gradients and values of the coming rounds, which are functions of the state, and
where V need not be a positive form of them: V − Σ ν_i I_i is positive definite, with ν >= 0 and inequalities I_i among
these points and the minimiser, such as f(w) − f* >= (μ/2)‖w − x*‖². So V is still at least a multiple of the squares.

Why no Lyapunov function proves less than the spectral radius. On quadratics a round is a linear map M of the
coordinates. Runs from the method's own start contain errors along an eigenvector (in a plane, where it is complex) of
those that they reach, which grow by its size r each round; since V lies between two multiples of the squared error,
V⁺ <= ρ·V in all rounds gives r² <= ρ.

What is trusted. Exact, and decisive: the method's own code on vectors, `coordinates`, the inequalities of
`worst_cases.questions.board`, and the checks in `functions` and `worst_cases.certificates.certificate`; for `lower`,
`quadratic_rounds`. `semidefinite` and `attained_vectors` only propose.
"""
