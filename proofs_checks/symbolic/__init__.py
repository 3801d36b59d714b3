"""What a round means on unknown vectors: who takes part in it (`randomness`), and vectors that depend on that.

Exact, and trusted by all that proves something of drawn clients: `worst_cases`, `search.lyapunov`. A kind of randomness
says the moments of different clients' shares in the average; `random_vectors` makes of them what products of a round's
vectors are in expectation.
"""
