"""Linear rates as theorems for all parameters: V and the multipliers as formulas, and the kernel's proof.

    discover(lambda s, mu: dict(method=Scaffold(stepsize=s, local_steps=2),                        discovered_rates.py
                                clients=SmoothStronglyConvex(mu, 1/s), metric="lyapunov"))
      │
      │ sampled_rounds    rounds at rational points: the exact factors of the slowest quadratics, semidefinite programs
      │ rates             these factors as rational functions, confirmed at points that were left out
      │ irrational_rates  where they are roots of quadratics: these, and the root in the place of a parameter
      │ valued_rounds     where no quadratic V of the state has the rate: with the objective's value
      │ eigenvectors      where V mixes coordinates: those in which the slowest quadratics' round is diagonal
      │ supports          few inequalities that prove the rate at all samples
      ▼
    The method's code with the parameters as symbols (`lyapunov.posed_round`)                      rates.py
      │
      │ equations         function values cancel, and the form vanishes on the slowest clients: linear in V and λ
      │ simple_formulas   what these leave open: a number times powers of the parameters, of the right unit (`units`)
      │ equations         what remains of rate·V − V⁺ as squares; their weights' signs give the condition
      ▼
    rate_terms            claim, setting and proof, which the kernel replays

Nothing here is trusted: a wrong formula anywhere leads to no proof.
"""
