"""The engines that decide the steps of proofs: what each one decides, why its answer is sound, and what it trusts.

A step claims left ≤ right, left < right or left = right for all parameters in a domain (`proof.Relation`), and names a
check. The check answers PROVED only if its engine has derived the claim; how the author found the proof plays no role.

| module | decides | method |
|---|---|---|
| `algebra` | whether two rational functions are the same | exact polynomial arithmetic (FLINT) |
| `signs` | whether a rational function of the parameters is ≥ 0 or > 0 on a domain | coefficients, else z3 |
| `hilbert` | nothing: it expands inner products of vectors, of all clients at once, into symbols | bilinearity |
| `facts` | nothing: it is the closed list of inequalities and equations that a proof may use | – |
| `checks` | whether a claim follows from facts: identity, combination, special case, instances | multipliers |
| `cases` | whether two proved claims cover x > bound and x = bound | comparison of the claims |
| `sampling` | the second moments of the average over drawn clients | generating functions, enumeration |
| `witnesses` | that a statement is false | a program of at most twenty lines that is run |
| `tightness` | how much of a bound an instance uses; this proves nothing | exact runs of one instance |

**A combination.** Most steps are of this kind: right − left = Σ_i m_i·fact_i + Σ_j w_j‖v_j‖², where each fact is ≥ 0
(or = 0). `hilbert` writes all norms and inner products as symbols ‖a‖ and ⟨a,b⟩, `algebra` checks that both sides are
the same rational function of these symbols and the parameters, and `signs` proves m_i ≥ 0 and w_j ≥ 0 on the domain.
The claim then holds for all vectors for which the facts hold. The check also proves that no denominator vanishes on the
domain.

**Any number of clients.** The vectors u_1, …, u_m of all clients are one vector u with ⟨u, v⟩ = Σ_k p_k⟨u_k, v_k⟩. The
mean is the orthogonal projection onto the vectors that are equal for all clients, so u splits into two orthogonal
parts, mean and deviation, and no formula contains the number of clients.

**Signs.** Each condition such as α ≥ 25L is used up by the substitution α = 25L + s with s ≥ 0. If the result has no
negative coefficient, it is not negative. Otherwise z3 searches for a point of the domain with the wrong sign; "no such
point" is its proof, a timeout is UNKNOWN.

**What is trusted.** The code of these modules; SymPy, to build and differentiate expressions; FLINT's polynomial
arithmetic; z3, for the signs that it decides (the outcome names it); the list of facts. For everything that z3 does not
decide the check writes a certificate, which `standalone_checker.py` checks with the standard library alone. What no
engine sees is what a symbol means: that the vector named ∇F_k is the gradient at the point that the paper says. The
module `hypotheses` checks that each symbol has one definition and that a proof uses no hypothesis that its statement
does not make; `conclusions`, that the proof ends with the statement's formula.
"""
