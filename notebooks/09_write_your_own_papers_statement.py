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
# A paper is two things: statements, each with a claim, and proofs, which a small kernel replays.

# %% [markdown]
# ## The statement
#
# Letters with units and ranges, assumptions, the formula, and what is claimed of it, each written once.

# %%
from fractions import Fraction

import fedconvex as fc
from fedconvex.claims import at_most
from fedconvex.claims.terms import gradient, mean, server, square, value
from fedconvex.proofs_checks import Remarks, WeaklyConvex, falsify, proof_of, prove, remarks_on, verify, worst_case
from fedconvex.proofs_checks.kernel.proofs import Derivation, Upper
from fedconvex.proofs_checks.library import by, concluding
from fedconvex.proofs_checks.tightness import Tightness
from fedconvex.statements import ClaimType, Paper, Parameter
from fedconvex.statements.assumptions import Everyone, Runs, Smooth
from fedconvex.statements.letters import Letters
from fedconvex.statements.notation import CURVATURE, STEPSIZE
from fedconvex.verdicts import Verdict

PAPER = Paper(
    name="mine",
    short="My paper",
    reference="Me: One round of FedSGD (this year)",
    convention="f = sum_k p_k F_k, a mean with weights p_k",
    letters=Letters(server="w^@"),
    notation={
        "stepsize": Parameter("s", "stepsize", STEPSIZE, above=0),
        "L": Parameter("L", "smoothness of every F_k", CURVATURE, above=0),
    },
)
before, after = server(0), server(1)
header = {
    "claim": ClaimType.UPPER, "symbol": r"\rho", "relation": "=", "units": STEPSIZE, "positive": True,
    "states": lambda rho: at_most(value(after), value(before) - rho * square(mean(gradient(before)))),
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
# A search for federations that break the claim, and the exact worst case over all smooth clients, convex or not, any
# number of them, at a few stepsizes:

# %%
assert falsify(decrease, tries=100) is None
for s in (Fraction(1, 10), Fraction(1, 2), Fraction(1), Fraction(3, 2)):
    method = fc.FedGD(stepsize=s, local_steps=1)
    worst = worst_case(method, WeaklyConvex(1, 1), "any", metric="descent")
    print(f"s = {s}: {worst.lower} at worst; promised {decrease(stepsize=s, L=1)}; {worst.says}")
    assert worst.lower == decrease(stepsize=s, L=1)

# %% [markdown]
# ## The proof
#
# A proof is data, from the claim: here one line with one fact, the descent lemma (`Upper`) at $w^{t+1}$ seen from
# $w^t$. That $w^{t+1} = w^t - s\nabla f(w^t)$ is not said: the kernel runs the method's own code.


# %%
@proof_of(decrease)
def proof(claim):
    return Derivation((concluding(claim, by(Upper(after, before))),))


result = verify(decrease)
assert result.verdict is Verdict.PROVED
assert result.theorem.claim == decrease.claim
print(result)

# %% [markdown]
# Without an idea, search. A proof of one line is found from the claim alone:

# %%
(line,) = prove(decrease).lines
print(f"{len(line.facts)} fact, {len(line.squares)} squares")

# %% [markdown]
# ## A remark
#
# What is known beside the proof decides no verdict: here one client, $Lx^2/2$ from $x = 1$, attains the bound.


# %%
@remarks_on(decrease)
def remarks(statement):
    def promised_and_actual(instance):
        s, L = instance
        return statement(stepsize=s, L=L) * L**2, L / 2 - L / 2 * (1 - s * L) ** 2

    return Remarks(tightness=Tightness(promised_and_actual, (Fraction(1, 2), Fraction(1)), "one client, Lx²/2"))


assert verify(decrease).tightness.quotient == 1


# %% [markdown]
# ## A wrong constant
#
# The same claim and the same proof, with a slip: $Ls^2/4$.


# %%
@PAPER.statement("Theorem 2", **header)
def too_much(*, stepsize, L):
    """One round decreases f by at least ρ‖∇f(w^t)‖², ρ = s − Ls²/4."""
    return stepsize - L * stepsize**2 / 4


proof_of(too_much)(proof)
result = verify(too_much)
assert result.verdict is Verdict.UNKNOWN
print(result.reason)

# %% [markdown]
# UNKNOWN: a proof that fails is no proof, and no counterexample either. A search finds one, a federation in fractions:

# %%
broken = falsify(too_much)
assert broken is not None
print(broken)

# %% [markdown]
# **Answer.** The statement holds for any number of clients, convex or not: the kernel replays the proof, one fact. At
# $s = 1/2$, $L = 1$ it promises 3/8, exactly the worst that happens. With $Ls^2/4$ the same proof is refused, and a
# federation breaks the claim. In a repository the statement is a file in `theory/`, the proof one in
# `proofs_checks/`, and `fedconvex verify` finds both; a lemma alone fits in one file, `fedconvex verify ./mypaper.py`.
