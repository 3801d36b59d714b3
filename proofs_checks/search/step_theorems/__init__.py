"""Linear rates as theorems for every number e of local steps at once.

    discover(lambda s, mu, e: dict(method=Scaffold(stepsize=s, local_steps=e),                          step_search.py
                                   clients=SmoothStronglyConvex(mu, 1/s), metric="lyapunov"), local_steps="e")
      │
      │ step_rounds        a round as e equal steps; costs to go, from V(next state) on backwards
      │ step_multipliers   two inequalities a step, and the multipliers that make them equalities where they must be
      │ step_search        which ways are proofs at numbers
      ▼
    Exact multipliers and costs at numbers, for e = 2 … 15                                         step_forms.py
      │
      │ closed_forms       Σ c·q^{αe + βi}·e^a·i^b: the exponents at numbers, then c as functions of the parameters
      ▼
    step_theorems          the cost to go is the potential of an induction over steps; claim, setting and proof, which
                           the kernel replays; what the first step leaves of V gives the condition

Nothing here is trusted: a wrong formula anywhere leads to no proof.
"""
