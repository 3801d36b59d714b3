# ---
# jupyter:
#   kernelspec:
#     display_name: Python 3
#     language: python
#     name: python3
# ---

# %% [markdown]
# # Write your own paper's statement, and check it
#
# **Your paper says: "if every client's function is $L$-smooth, a round of FedSGD with stepsize $s$ decreases the
# objective by at least $\rho\,\|\nabla f(w)\|^2$, $\rho = s - Ls^2/2$." Is that so, does your proof show it, and
# would anybody notice a wrong constant?**
#
# A paper is two things: statements, and proofs whose steps a machine checks.

# %% [markdown]
# ## The statement
#
# Letters with units and ranges, assumptions, and the formula, written once.

# %%
from fractions import Fraction

import sympy

import fedconvex as fc
from fedconvex.proofs_checks import Proof, Relation, Step, WeaklyConvex, proves, verify, worst_case
from fedconvex.proofs_checks.engines.checks import Combination
from fedconvex.proofs_checks.engines.facts import smooth
from fedconvex.proofs_checks.engines.hilbert import square, vector
from fedconvex.proofs_checks.engines.signs import Domain
from fedconvex.statements import ClaimType, Paper, Parameter
from fedconvex.statements.assumptions import Everyone, Runs, Smooth
from fedconvex.statements.notation import CURVATURE, STEPSIZE
from fedconvex.statements.rendering import symbols
from fedconvex.verdicts import Verdict

PAPER = Paper(
    name="mine",
    short="My paper",
    reference="Me: One round of FedSGD (this year)",
    convention="f = sum_k p_k F_k, a mean with weights p_k",
    notation={
        "stepsize": Parameter("s", "stepsize", STEPSIZE, above=0),
        "L": Parameter("L", "smoothness of every F_k", CURVATURE, above=0),
    },
)


header = {
    "claim": ClaimType.UPPER, "symbol": r"\rho", "relation": "=", "units": STEPSIZE, "positive": True,
    "conclusion": r"f(w^{t+1}) \le f(w^t) - \rho\,\|\nabla f(w^t)\|^2",
    "assumes": (Runs("FedGD", local_steps=1), Everyone(), Smooth()),
}  # fmt: skip


@PAPER.statement("Theorem 1", **header)
def decrease(*, stepsize, L):
    """One round decreases f by at least ρ‖∇f(w^t)‖², ρ = s − Ls²/2."""
    return stepsize - L * stepsize**2 / 2


decrease

# %% [markdown]
# The same formula in every arithmetic, with a certified sign:

# %%
print(decrease(stepsize=0.1, L=1), decrease(stepsize=Fraction(1, 10), L=1), decrease.sign(stepsize=2, L=1))

# %% [markdown]
# ## Before the proof: is it true?
#
# The exact worst case over all smooth clients, convex or not, any number of them, at a few stepsizes:

# %%
worst = {}
for s in (Fraction(1, 10), Fraction(1, 2), Fraction(1), Fraction(3, 2)):
    method = fc.FedGD(stepsize=s, local_steps=1)
    worst[s] = worst_case(method, WeaklyConvex(1, 1), "any", metric="descent")
    print(f"s = {s}: {worst[s].lower} at worst; promised {decrease(stepsize=s, L=1)}; {worst[s].says}")
    assert worst[s].lower == decrease(stepsize=s, L=1)

# %% [markdown]
# ## The proof
#
# One step: the descent lemma, a fact from a closed list, at $w^{t+1} = w^t - s\nabla f(w^t)$. The formula comes from
# the statement that is handed in, so that a changed formula is noticed.


# %%
@proves(decrease)
def proof(statement):
    letters = symbols(PAPER.notation)
    s, L = letters["stepsize"], letters["L"]
    before, after, gradient = sympy.Symbol("f(w)"), sympy.Symbol("f(w⁺)"), vector("∇f(w)")
    rho = statement.calculator.formula(stepsize=s, L=L)
    claim = Relation(after, "<=", before - rho * square(gradient), Domain.of(statement))
    descent_lemma = smooth(after, before, gradient, -s * gradient, L)
    shown = r"f(w^{t+1}) \le f(w^t) - (s - \tfrac{L}{2}s^2)\|\nabla f(w^t)\|^2"
    return Proof(
        (Step(shown, "the descent lemma for f, the mean of the F_k", claim, Combination(facts=((1, descent_lemma),))),)
    )


result = verify(decrease)
assert result.verdict is Verdict.PROVED
for found in result.evidence:
    print(found.step.because, "→", found.outcome.verdict.name, "by", found.outcome.detail)


# %% [markdown]
# ## A wrong constant
#
# The same theorem and the same proof, with a slip: $Ls^2/4$.


# %%
@PAPER.statement("Theorem 1", **header)
def too_much(*, stepsize, L):
    """One round decreases f by at least ρ‖∇f(w^t)‖², ρ = s − Ls²/4."""
    return stepsize - L * stepsize**2 / 4


result = verify(too_much)
assert result.verdict is Verdict.UNKNOWN
print(result.reason)

# %% [markdown]
# UNKNOWN: a proof that fails is no proof, and no counterexample either. That is what the worst case has, clients that
# can be run:

# %%
half = Fraction(1, 2)
clients, start = worst[half].federation(), worst[half].start
after = fc.simulate(fc.FedGD(stepsize=half, local_steps=1), clients, 1, x0=start, progress=False).points[-1]
gradient = clients.gradient(start)
happened = (clients.value(start) - clients.value(after)) / (gradient @ gradient)
print(f"happens {happened:.4f}, promised {float(too_much(stepsize=half, L=1)):.4f}")
assert decrease(stepsize=half, L=1) == Fraction(3, 8)
assert worst[half].upper < too_much(stepsize=half, L=1) == Fraction(7, 16)
assert abs(happened - 3 / 8) < 1e-6

# %% [markdown]
# **Answer.** The statement holds for any number of clients, convex or not: the proof, one step of a listed fact, is
# checked. At $s = 1/2$, $L = 1$ it promises 3/8, exactly the worst that happens. With $Ls^2/4$ it would promise 7/16:
# the same proof is refused, and a federation decreases by 3/8 only. In a repository the statement is a file in
# `theory/`, the proof one in `proofs_checks/`, and `fedconvex verify` finds both.
