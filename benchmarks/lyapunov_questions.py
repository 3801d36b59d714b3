"""`lyapunov` on random questions: is a proved rate ever below an attained one, and how often do the bounds meet?

    python benchmarks/lyapunov_questions.py             # 10,000 questions
    python benchmarks/lyapunov_questions.py 300 7       # 300, with another seed
    python benchmarks/lyapunov_questions.py 300 7 "K of m clients sampled"  # of one kind

A question is a method with random parameters, a random condition number, and clients of which all take part, K of m
are sampled, answers are inexact, numbers of local steps unequal, or two stepsizes alternate. What attains is searched
for once more than `lyapunov` does: on random quadratic federations the contraction over many rounds is computed
exactly, and compared with the proved rate as rational numbers. No time is measured but the CPU's, so that
results/lyapunov_questions.md holds on a busy machine, too.
"""

import json
import statistics
import sys
import time
from collections import defaultdict
from dataclasses import replace
from fractions import Fraction as F
from pathlib import Path
from typing import Any

import numpy as np

import fedconvex as fc
from fedconvex.methods import Method
from fedconvex.participation import Uniform
from fedconvex.proofs_checks import Rate, SmoothStronglyConvex, lyapunov
from fedconvex.proofs_checks.search.lyapunov.drawn_federations import attained_when_drawn
from fedconvex.proofs_checks.search.lyapunov.grouped_federations import InSubgroups, Subgroup
from fedconvex.proofs_checks.search.lyapunov.grouped_rounds import attained_by_groups, coordinates_on
from fedconvex.proofs_checks.search.lyapunov.quadratic_federations import InAPlane, OnALine
from fedconvex.proofs_checks.search.lyapunov.quadratic_rounds import attained
from fedconvex.proofs_checks.symbolic.randomness import draws_of

RESULTS = Path(__file__).parent / "results"
COUNT, CLOSE = 10_000, F(1, 10**4)
CONDITION_NUMBERS = (2, 3, 4, 6, 10, 20, 50, 100, 300, 1000)
SAMPLED, INEXACT, UNEQUAL, ALTERNATING = 0.15, 0.05, 0.1, 0.05  # parts of the questions, of methods that have it
FEDERATIONS = 3  # random ones for each question
Question = dict[str, Any]


def method(rng: np.random.Generator, s: F) -> Method:
    """A method with stepsize s, or with weights 1/s."""
    steps = int(rng.integers(1, 9))
    eta = F(int(rng.integers(1, 13)), 10)
    kinds: list[Method] = [
        fc.Scaffold(stepsize=s, local_steps=steps), fc.Scaffold(stepsize=s, local_steps=steps, option=1),
        fc.Scaffold(stepsize=s, local_steps=steps, server_stepsize=eta), fc.FedLin(stepsize=s, local_steps=steps),
        fc.FedDyn(alpha=1 / s), fc.FedDynOneGD(alpha=1 / s), fc.FedSplit(stepsize=s), fc.FedPD(eta=s),
        fc.DANE(mu=1 / s), fc.FedGD(stepsize=s), fc.FedDANE(mu=2 / s),
    ]  # fmt: skip
    return kinds[rng.integers(len(kinds))]


def question(rng: np.random.Generator) -> Question:
    """The arguments of `lyapunov`, and what kind of question it is."""
    kappa = int(rng.choice(CONDITION_NUMBERS))
    chosen = method(rng, F(int(rng.integers(1, 25)), 20 * kappa))
    asked: Question = {"method": chosen, "clients": SmoothStronglyConvex(1, kappa)}
    kind = rng.random()
    if kind < SAMPLED and isinstance(chosen, fc.Scaffold | fc.FedDyn | fc.FedDynOneGD | fc.FedSplit):
        m = int(rng.choice([2, 3, 10, 100, 1000]))
        return {**asked, "num_clients": m, "participation": Uniform(int(rng.integers(1, m)))}
    if kind < SAMPLED + INEXACT and isinstance(chosen, fc.FedDyn | fc.FedPD | fc.DANE):
        return {**asked, "local_solver": fc.ToInexactness(gamma=F(int(rng.integers(1, 6)), 20))}
    kind -= SAMPLED + INEXACT
    if 0 <= kind < UNEQUAL and isinstance(chosen, fc.Scaffold | fc.FedLin):
        steps = tuple(int(e) for e in rng.choice(6, int(rng.integers(2, 4)), replace=False) + 1)
        many = int(rng.integers(2))
        return {**asked, "method": replace(chosen, local_steps=steps), "num_clients": len(steps) if many else "any"}
    kind -= UNEQUAL
    if 0 <= kind < ALTERNATING and isinstance(chosen, fc.Scaffold | fc.FedLin | fc.FedGD):
        pair = [chosen.stepsize, F(int(rng.integers(1, 25)), 20 * kappa)]
        return {**asked, "method": replace(chosen, stepsize=pair), "period": 2}
    return asked


def kind_of(asked: Question) -> str:
    """Everyone, sampled clients or inexact answers."""
    if "participation" in asked:
        return "K of m clients sampled"
    if "local_solver" in asked:
        return "inexact answers"
    unequal = isinstance(getattr(asked["method"], "local_steps", 1), tuple)
    return "unequal local steps" if unequal else "two stepsizes" if "period" in asked else "everyone, one stepsize"


def random_contraction(rng: np.random.Generator, found: Rate, asked: Question) -> F:
    """The largest exact contraction over many rounds of some random federations."""
    if found.function is None:
        return F(0)
    low, high = found.clients.lowest, found.clients.highest
    if "participation" in asked:
        return max(contraction_of_drawn(rng, found, asked) for _ in range(FEDERATIONS))
    if isinstance(found.solver, fc.UnequalSteps):
        return max(contraction_in_groups(rng, found) for _ in range(FEDERATIONS))
    signs = (-1, 0, 1) if "local_solver" in asked else (0,)
    best = F(0)
    for _ in range(FEDERATIONS):
        a, b = (low + (high - low) * F(int(rng.integers(0, 101)), 100) for _ in range(2))
        part = F(int(rng.integers(1, 50)), 50)
        federation = OnALine(a, b, part) if rng.random() < 0.5 else InAPlane(min(a, b), max(a, b), part)
        of = found.function.posed.coordinates
        best = max(best, attained(of, found.solver, federation, int(rng.choice(signs))).squared)
    return best


def contraction_of_drawn(rng: np.random.Generator, found: Rate, asked: Question) -> F:
    """The exact contraction of expected squares of two random groups, of which clients are sampled."""
    low, high, m = found.clients.lowest, found.clients.highest, asked["num_clients"]
    a, b = (low + (high - low) * F(int(rng.choice([0, 100, rng.integers(0, 101)])), 100) for _ in range(2))
    federation = OnALine(a, b, F(int(rng.integers(1, m)), m))
    draws = draws_of(asked["participation"], m)
    return attained_when_drawn(found.function.posed.coordinates, found.solver, draws, federation).squared


def contraction_in_groups(rng: np.random.Generator, found: Rate) -> F:
    """The exact contraction of a random federation in a plane, every client with a Hessian of its own."""
    low, high = found.clients.lowest, found.clients.highest
    steps = found.solver.steps
    times = 1 if isinstance(found.num_clients, int) else 2
    members = []
    for group, count in enumerate(sorted(set(steps))):
        for _ in range(times * steps.count(count)):
            a, b = (low + (high - low) * F(int(rng.choice([0, 100, rng.integers(0, 101)])), 100) for _ in range(2))
            members.append(Subgroup(group, F(1, times * len(steps)), a, b, F(int(rng.integers(0, 50)), 50)))
    federation = InSubgroups(steps, tuple(members))
    solver = replace(found.solver, steps=tuple(sorted(set(steps))))
    of = coordinates_on(found.method, solver, found.clients, federation)
    return attained_by_groups(of, solver, found.clients, federation).squared


def answered(rng: np.random.Generator, asked: Question) -> dict[str, Any]:
    """One answer as a row."""
    begun = time.process_time()
    found = lyapunov(**asked)
    taken = time.process_time() - begun
    proved = found.function is not None
    attains = max(found.lower, random_contraction(rng, found, asked))
    return {
        "kind": kind_of(asked), "seconds": taken, "proved": proved, "grows": found.lower > 1,
        "crossed": found.upper < attains, "exact": found.upper == attains,
        "close": proved and found.upper <= attains * (1 + CLOSE),
        "gap": float(found.upper / attains - 1) if proved and attains else None,
        "question": {name: str(value) for name, value in asked.items()},
    }  # fmt: skip


def table(rows: list[dict[str, Any]]) -> str:
    """A line for each kind of question, and one for all."""
    kinds = defaultdict(list)
    for one in rows:
        kinds[one["kind"]].append(one)
    lines = ["| questions | number | below an attained one | both known | at most 1e-4 apart | equal | largest gap | "
             "no proof, errors grow | no proof, else | CPU seconds: median, largest |",
             "|---|---|---|---|---|---|---|---|---|---|"]  # fmt: skip
    for name, these in [*sorted(kinds.items()), ("all", rows)]:
        known = [one for one in these if one["proved"]]
        apart = max((one["gap"] for one in known if one["gap"] is not None), default=0.0)
        close, exact = (100 * sum(one[key] for one in known) / max(len(known), 1) for key in ("close", "exact"))
        growing = sum(one["grows"] and not one["proved"] for one in these)
        times = [one["seconds"] for one in these]
        lines.append(
            f"| {name} | {len(these)} | {sum(one['crossed'] for one in these)} | {len(known)} | {close:.1f} % | "
            f"{exact:.1f} % | {apart:.1e} | {growing} | {len(these) - len(known) - growing} | "
            f"{statistics.median(times):.3f}, {max(times):.1f} |"
        )
    return "\n".join(lines)


def main() -> None:
    """Answer, and record."""
    given = sys.argv[1:]
    count, seed = (int(text) for text in [*given[:2], *map(str, (COUNT, 0)[len(given) :])])
    rng, rows, i = np.random.default_rng(seed), [], 0
    while len(rows) < count:
        asked, i = question(rng), i + 1
        if given[2:] and kind_of(asked) != given[2]:
            continue
        rows.append(answered(np.random.default_rng((seed, i)), asked))
        if sys.stderr.isatty() or len(rows) % 500 == 0:
            print(f"{len(rows)} of {count}", file=sys.stderr, flush=True)
    apart = sorted((one for one in rows if one["gap"]), key=lambda one: -one["gap"])[:10]
    unproved = [one for one in rows if not one["proved"] and not one["grows"]][:10]
    text = f"{(__doc__ or '').splitlines()[0]}\n\n{count} random questions, seed {seed}.\n\n{table(rows)}\n"
    print(text)
    if any(one["crossed"] for one in rows):
        raise SystemExit("a proved rate is below an attained one")
    if count == COUNT and not given[2:]:
        (RESULTS / "lyapunov_questions.md").write_text("# Rates of random questions\n\n" + text, "utf-8")
        kept = {"widest": apart, "unproved": unproved}
        (RESULTS / "lyapunov_questions.json").write_text(json.dumps(kept, indent=1, ensure_ascii=False) + "\n", "utf-8")


if __name__ == "__main__":
    main()
