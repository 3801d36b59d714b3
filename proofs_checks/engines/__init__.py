"""What decides the proofs that `discover` finds: worst cases as theorems for all parameters of a domain.

The papers' statements are proved by the kernel. A step here claims left ≤ right for all parameters in a domain
(`proof.Relation`), and names a check, which answers PROVED only if its engine has derived the claim.

| module | decides | method |
|---|---|---|
| `algebra` | whether two rational functions are the same | exact polynomial arithmetic (FLINT) |
| `signs` | whether a rational function of the parameters is ≥ 0 or > 0 on a domain | coefficients, else z3 |
| `hilbert` | nothing: it expands inner products of vectors, of all clients at once, into symbols | bilinearity |
| `facts` | nothing: it is the closed list of inequalities that a proof may use | – |
| `checks` | whether a claim follows: a combination of facts and squares, a sign | multipliers |

**Any number of clients.** The vectors u_1, …, u_m of all clients are one vector u with ⟨u, v⟩ = Σ_k p_k⟨u_k, v_k⟩. The
mean is the orthogonal projection onto the vectors that are equal for all clients, so u splits into two orthogonal
parts, mean and deviation, and no formula contains the number of clients.

**Signs.** Each condition such as α ≥ 25L is used up by the substitution α = 25L + s with s ≥ 0. If the result has no
negative coefficient, it is not negative. Otherwise z3 searches for a point of the domain with the wrong sign; "no such
point" is its proof, a timeout is UNKNOWN.

For everything that z3 does not decide the check writes a certificate, which `standalone_checker.py` checks with the
standard library alone.
"""
