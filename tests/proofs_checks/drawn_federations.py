"""Shared by the tests of FedDyn's non-convex part and of FedDynOneGD."""

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from random import Random
from typing import Any

from fedconvex.proofs_checks import verification
from fedconvex.proofs_checks.engines.algebra import is_zero
from fedconvex.proofs_checks.engines.checks import Combination
from fedconvex.proofs_checks.proof import Role, Step
from fedconvex.statements.statement import Statement
from fedconvex.theory import feddyn
from fedconvex.verdicts import Verdict


def statement(name: str) -> Statement:
    return getattr(feddyn, name)


def printed(name: str) -> dict[str, Verdict]:
    """The verdicts on what is printed and not needed, by the places."""
    steps = verification.verify(statement(name)).evidence
    return {r.step.place: r.outcome.verdict for r in steps if r.step.role is Role.PRINTED}


def broken(name: str) -> Iterator[tuple[str, Step]]:
    """The steps with one multiplier or weight doubled, or the sides exchanged; an identity may be used twice."""
    proof = verification.proof_of(statement(name))
    assert proof is not None
    for step in proof.steps:
        by: Any = step.by
        if not isinstance(by, Combination):
            continue
        for n, (multiplier, fact) in enumerate(by.facts):
            if multiplier != 0 and not is_zero(fact.expression):
                wrong = (*by.facts[:n], (2 * multiplier, fact), *by.facts[n + 1 :])
                yield f"{step.shown}: {fact.name}", replace(step, by=replace(by, facts=wrong))
        for n, (weight, vector) in enumerate(by.squares):
            wrong_squares = (*by.squares[:n], (2 * weight, vector), *by.squares[n + 1 :])
            yield f"{step.shown}: a square", replace(step, by=replace(by, squares=wrong_squares))
        if step.claim.relation == "<=":
            turned = replace(step.claim, left=step.claim.right, right=step.claim.left)
            yield f"{step.shown}: turned", replace(step, claim=turned)


def still_proved(name: str) -> list[str]:
    """Broken steps that pass all the same."""
    return [what for what, step in broken(name) if step.by.run(step.claim).verdict is Verdict.PROVED]


def drawn(number: int, smallest: int) -> Any:
    """Curvatures of both signs with a positive mean, α at least `smallest` L m/P."""
    random = Random(number)
    m = random.randint(1, 3)
    P = random.randint(1, m)
    a = [Fraction(random.choice([-3, -2, -1, 1, 2, 3]), 2) for _ in range(m)]
    while sum(a) <= 0:
        a[random.randrange(m)] += 2
    a = [x if x else Fraction(1, 3) for x in a]
    c = tuple(Fraction(random.randint(-6, 6), 2) for _ in range(m))
    alpha = smallest * max(map(abs, a)) * Fraction(m, P) * Fraction(random.randint(10, 15), 10)
    return tuple(a), c, alpha, P, Fraction(random.randint(-4, 4)), random.randint(1, 2)
