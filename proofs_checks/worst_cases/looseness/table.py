"""The page of the guide that tells how loose the bounds are, made by running

python -m fedconvex.proofs_checks.worst_cases.looseness.table > docs/looseness.md
"""

import sys
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import ROUND_CEILING, ROUND_FLOOR, ROUND_HALF_EVEN, Context, Decimal
from fractions import Fraction as F
from typing import Any, final

from fedconvex.proofs_checks.verification import proof_of
from fedconvex.proofs_checks.worst_cases.looseness.factor import INFINITE, SAME, Looseness, looseness
from fedconvex.proofs_checks.worst_cases.looseness.quotients import Quotient
from fedconvex.statements.statement import ClaimType
from fedconvex.theory import papers

DIGITS = 4
HEAD = """# How loose are the bounds?

Made by `python -m fedconvex.proofs_checks.worst_cases.looseness.table` from the running code. The looseness of a bound
at given numbers is the bound divided by the exact worst case: over all clients of the class, all starts and, for
γ-inexact solutions, all answers that are inexact enough. Of a promised decrease it is the least decrease divided by the
promise. 1 is a bound that is attained. Both ends of every worst case are proved ([worst-cases.md](worst-cases.md)).

```sh
fedconvex bounds feddyn.theorem2 --alpha 25 --L 1 --num-clients 10 --num-active 10 --T 8 --worst-case
fedconvex bounds feddyn.lemma4 --worst-case    # which numbers does it take?
```

```python
from fractions import Fraction

from fedconvex.proofs_checks import looseness
from fedconvex.verdicts import Verdict

found = looseness("fedprox.theorem4", mu=50, L=1, L_minus=0, B=Fraction(6, 5), gamma=0, K=10)
lower, upper = found.factor  # the least decrease is between these times what Theorem 4 promises
assert 2.4 < lower <= upper < 2.5
assert found.verdict is Verdict.PROVED  # the theorem at these numbers, by the certificate alone
print(found.says)

split = looseness("feddyn.theorem2", alpha=25, L=1, num_clients=10, num_active=10, T=1)
assert split.factor == (500, 500)
```

A factor below 1 says that the statement is false at these numbers: `says` begins with REFUTED (for a step of a proof
with BROKEN: by a state to which perhaps no run comes), and the command's exit status is 1.

* Two numbers, as in 1.237 … 1.239: the first is proved, the second attained. Where K of any number of clients are
  drawn, f at their average is bounded by the descent lemma, from one side only: the exact worst case lies between the
  two. With m, every way to draw from m clients is written out, and the worst case is exact for that m; what two clients
  attain is an end for any number.
* A bound that is linear in what the start is like (D₀ and G; Δ and S) is compared with the worst over all of it
  together: the metric is divided by that combination, in units of the first.
* With everyone taking part in FedDyn, P = m, any number of clients is the same. With P < m, every history of draws is
  written out, for few clients and rounds. What is promised for T rounds falls like 1/T, what happens at first does not:
  the looseness is largest for few rounds.
* FedSplit's and Rockafellar's bounds are in units of the bound.
"""
BOUNDS = (ClaimType.UPPER, ClaimType.LOWER, ClaimType.TIGHT)
LEMMAS = """## Steps of the proofs

One round, from any state of which the server's h is the mean of the memories. The numbers are quotients of both sides:
what was known so far is how much of the bound some instance uses (`Proof.tightness`), which is the other side.

"""
BEYOND = """
## The other bounds

What an exact instance uses of them at most: for 1 nothing sharper can be said, and the looseness is 1. `looseness` has
no question for counts of rounds, for bounds whose two sides are not linear in inner products and values (means of
lengths, but for `fedprox.equation14`), another γ for every client, draws from many clients with memory, and what is
only claimed up to constants. `fedprox.corollary9`, which is refuted as printed, has no looseness.

| statement | used | by |
|---|---|---|
"""
PROX: dict[str, Any] = {"mu": 50, "L": 1, "L_minus": 0, "B": F(6, 5)}
DYN = {"L": 1, "num_clients": 10, "num_active": 10}
LETTERS = {
    "alpha": "α", "epsilon": "ε", "eta": "η", "gamma": "γ", "kappa": "κ", "mu": "μ", "sigma2": "σ²",
    "num_clients": "m", "num_active": "P", "local_steps": "e", "L_minus": "L₋",
}  # fmt: skip
TWO = {"num_clients": 2}
ONE_OF_TWO = {"num_clients": 2, "num_active": 1}
STRONG = {**DYN, "mu": F(1, 10)}


def played() -> Iterator[tuple[str, dict[str, Any]]]:
    """Theorems."""
    for gamma in (0, F(1, 10)):
        for K in (10, 100):
            yield "fedprox.theorem4", {**PROX, "gamma": gamma, "K": K}
    yield "fedprox.theorem4", {**PROX, "L_minus": 1, "gamma": 0, "K": 100}
    yield "fedprox.theorem4", {**PROX, "B": 2, "gamma": 0, "K": 100}
    yield "fedprox.theorem11", {"mu": 50, "L": 1, "L_minus": 0, "sigma2": F(9, 16), "epsilon": 1, "gamma": 0, "K": 100}
    for gamma in (0, F(1, 10)):
        yield "fedprox.theorem4sharper", {**PROX, "gamma": gamma}
    for gamma in (0, F(1, 10)):
        yield "fedprox.theorem4bycurvature", {**PROX, "gamma": gamma, "K": 10}
    yield "fedprox.theorem4convex", {"mu": 5, "L": 1, "B": F(3, 2), "K": 10}
    yield "fedprox.theorem4convexeveryone", {"mu": 5, "L": 1, "B": F(3, 2)}
    yield "fedprox.corollary7sharper", {"L": 1, "B": 2, "K": 8}
    for num_clients in (2, 3, 4):
        yield "fedprox.theorem4sharper", {**PROX, "gamma": 0, "num_clients": num_clients}
    yield "fedprox.theorem4convex", {"mu": 5, "L": 1, "B": F(3, 2), "K": 4, "num_clients": 3}
    yield "fedprox.corollary7sharper", {"L": 1, "B": 2, "K": 8, **TWO}
    for statement in ("theorem2", "theorem2sharper"):
        for T in (1, 4, 8):
            yield f"feddyn.{statement}", {"alpha": 25, **DYN, "T": T}
    for statement in ("theorem3", "theorem3sharper"):
        for T in (1, 8):
            yield f"feddyn.{statement}", {"alpha": 30, **STRONG, "T": T}
    for statement in ("theorem4", "theorem4sharper"):
        for T in (1, 8):
            yield f"feddyn.{statement}", {"alpha": 20, **DYN, "T": T}
    for sharper in ("", "sharper"):
        for T in (1, 8):
            yield f"feddyn.equation18{sharper}", {"alpha": 50, **STRONG, "T": T}
    for sharper in ("", "sharper"):
        for T in (1, 8):
            yield f"feddyn.equation20{sharper}", {"alpha": 50, **DYN, "T": T}
    for sharper in ("", "sharper"):
        yield f"feddyn.theorem2{sharper}", {"alpha": 25, "L": 1, **ONE_OF_TWO, "T": 3}
        yield f"feddyn.theorem2{sharper}", {"alpha": 25, "L": 1, "num_clients": 3, "num_active": 1, "T": 2}
        yield f"feddyn.theorem3{sharper}", {"alpha": 30, "L": 1, **ONE_OF_TWO, "mu": F(1, 10), "T": 3}
        yield f"feddyn.theorem4{sharper}", {"alpha": 40, "L": 1, **ONE_OF_TWO, "T": 3}
        yield f"feddyn.equation18{sharper}", {"alpha": 50, "L": 1, **ONE_OF_TWO, "mu": F(1, 10), "T": 3}
        yield f"feddyn.equation20{sharper}", {"alpha": 100, "L": 1, **ONE_OF_TWO, "T": 3}
    for kappa in (4, 100):
        yield "fedsplit.theorem1", {"t": 3, "kappa": kappa}
        yield "fedsplit.corollary1", {"kappa": kappa, "local_steps": 3}
        yield "fedsplit.corollary1sharper", {"kappa": kappa, "local_steps": 3}
    yield "dane.oneround", {"mu": 3, "eta": 1, "L": 1, "L_minus": 1}
    yield "nesterov.corollary2_1_2", {"t": 4, "L": 1}
    yield "nesterov.smoothfunctions", {"T": 4, "stepsize": 1, "L": 1}
    yield "nesterov.gradientstep", {"t": 3, "stepsize": F(2, 5), "mu": 1, "L": 4}
    yield "nesterov.theorem2_1_15", {"t": 2, "kappa": 9}
    yield "ghadimi_lan.corollary2_2nonconvex", {"N": 3, "L": 2, "sigma2": 0}
    yield "ghadimi_lan.corollary2_2convex", {"N": 3, "L": 1, "sigma2": 0}
    yield "giselsson_boyd.reflectedproximalstep", {"stepsize": F(1, 3), "mu": 1, "L": 4}
    yield "giselsson_boyd.theorem2", {"relaxation": F(6, 5), "stepsize": F(1, 2), "mu": 1, "L": 4}
    yield "rockafellar.convexfunctions", {"t": 3, "stepsize": 1}
    yield "rockafellar.proximalstep", {"stepsize": F(1, 2), "mu": 3}


def compared() -> Iterator[tuple[str, dict[str, Any]]]:
    """Lemmas."""
    for gamma in (0, F(1, 10)):
        yield "fedprox.equation7", {"mu": 5, "L": 1, "L_minus": 1, "B": 2, "gamma": gamma}
    for gamma in (0, F(1, 10)):
        yield "fedprox.equation13", {"mu": 5, "L_minus": 1, "B": 2, "gamma": gamma, "K": 3}
    for gamma in (0, F(1, 10)):
        yield "fedprox.equation14", {"mu": 5, "L": 1, "L_minus": 1, "B": 2, "gamma": gamma, "K": 1, **TWO}
    for statement in ("lemma4", "lemma4sharper"):
        for alpha in (4, 25):
            yield f"feddyn.{statement}", {"alpha": alpha, "L": 1}
    yield "feddyn.lemma1", {"alpha": 25, **DYN}
    for statement in ("lemma8", "lemma8sharper"):
        yield f"feddyn.{statement}", {"alpha": 30, **STRONG}
    for statement in ("lemma10", "lemma10assummed", "lemma10sharper"):
        yield f"feddyn.{statement}", {"alpha": 25, **DYN}
    for statement in ("lemma11", "lemma14", "lemma19", "lemma19sharper"):
        for alpha in (4, 25):
            yield f"feddyn.{statement}", {"alpha": alpha, "L": 1}
    for statement in ("lemma12", "lemma20", "equation19"):
        yield f"feddyn.{statement}", {"alpha": 25, **DYN}
    for lemma in ("lemma10", "lemma10sharper", "lemma12", "lemma20", "equation19"):
        yield f"feddyn.{lemma}", {"alpha": 60, "L": 1, **ONE_OF_TWO}
    yield "feddyn.equation17", {"alpha": 25, **STRONG}
    yield "feddyn.lemma16", {"alpha": 25, "num_clients": 10, "num_active": 5}


@final
@dataclass(frozen=True)
class LoosenessRow:
    """The looseness at given numbers, in words: ends that are proved are rounded so that they stay true."""

    statement: str
    at: str
    bound: str
    worst: str
    looseness: str
    is_lemma: bool  # a step of a proof: quotients of both sides


def letter(name: str) -> str:
    """An argument as the papers write it."""
    return LETTERS.get(name, name)


def row(found: Looseness) -> LoosenessRow:
    """In words."""
    at = ", ".join(f"{letter(name)} = {value}" for name, value in found.numbers.items())
    assert not found.factor[1] < 1, found.says
    identifier = found.statement.identifier
    is_lemma = identifier in {name for name, _ in compared()}
    return LoosenessRow(identifier, at, _bound(found), _worst(found), _ends(*found.factor), is_lemma)


def used_at_most() -> Iterator[tuple[str, str, str]]:
    """The bounds without a row, but of which an instance is known, with how much of each it uses, and how."""
    rows = {identifier for identifier, _ in (*played(), *compared())}
    for statement in (s for paper in papers().values() for s in paper.everything if s.claim in BOUNDS):
        proof = None if statement.identifier in rows else proof_of(statement)
        if proof is not None and proof.tightness is not None:
            used = "1" if proof.tightness.attained else _short(F(float(proof.tightness.quotient)), ROUND_FLOOR)
            yield statement.identifier, used, proof.tightness.how


def as_markdown() -> str:
    """The whole page."""
    theorems = [row(looseness(identifier, **numbers)) for identifier, numbers in played()]
    lemmas = [row(looseness(identifier, **numbers)) for identifier, numbers in compared()]
    return "\n".join([
        HEAD,
        "| statement | at | bound | exact worst case | looseness |", "|---|---|---|---|---|",
        *(_line(f"`{r.statement}`", r.at, r.bound, r.worst, r.looseness) for r in theorems),
        "", LEMMAS.rstrip(), "",
        "| statement | at | looseness |", "|---|---|---|",
        *(_line(f"`{r.statement}`", r.at, r.looseness) for r in lemmas),
        BEYOND + "\n".join(without_rows()), "",
    ])  # fmt: skip


def without_rows() -> Iterator[str]:
    """The bounds that have no numbers of their own on the page."""
    for identifier, used, how in used_at_most():
        yield _line(f"`{identifier}`", used, how)


def _line(*cells: str) -> str:
    return f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |"


def _bound(found: Looseness) -> str:
    """Of two quantities that are compared, what is promised is 1."""
    return "1" if found.bound is None else _short(F(float(found.bound)), ROUND_HALF_EVEN)


def _worst(found: Looseness) -> str:
    """What happens, in the bound's unit."""
    if isinstance(found.worst, Quotient):
        return _ends(*(INFINITE if not factor else 1 / factor for factor in reversed(found.factor)))
    lower, upper = found.lower, found.upper
    return f"√({_ends(lower, upper)})" if found.power == 2 else _ends(lower, upper)


def _ends(lower: Any, upper: Any) -> str:
    if upper - lower <= SAME * abs(upper):
        return _short(upper, ROUND_HALF_EVEN)
    return f"{_short(lower, ROUND_FLOOR)} … {'?' if upper == INFINITE else _short(upper, ROUND_CEILING)}"


def _short(number: Any, rounding: str) -> str:
    context = Context(prec=DIGITS, rounding=rounding)
    return f"{context.divide(Decimal(number.numerator), Decimal(number.denominator)).normalize():f}"


if __name__ == "__main__":
    sys.stdout.write(as_markdown())
