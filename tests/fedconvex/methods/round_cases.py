"""Every method with its paper's pseudo-code, problems and participation schedules, and three exact rounds of each."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
import pseudo_code as paper
import pseudo_code_clients as clients
import pseudo_code_servers as servers
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from problem_makers import POSITIVE, Draw, entries, fractions, identity, terms_of

import fedconvex as fc

M = 3
EVERYBODY = list(range(M))
SETS = [[0], [1], [2], [0, 1], [0, 2], [1, 2], EVERYBODY]
PARTIAL = [[0, 2], [1], [0, 1]]
UNEQUAL = fc.Quadratic(
    H=[[[2, 1], [1, 3]], [[1, 0], [0, 0]], [[5, -1], [-1, 1]]],
    c=[[1, 2], [Fraction(1, 3), 0], [-1, 4]],
    weights=[1, 2, Fraction(1, 2)],
)
START = fractions([1, -2])
fewer = settings(max_examples=20, deadline=None, suppress_health_check=[HealthCheck.too_slow])


@dataclass(frozen=True)
class UnequalWork(fc.participation.Participation):
    """A schedule in which client k does work[k] of the local steps."""

    schedule: Sequence[Sequence[int]]
    work: Sequence[int]

    def draw(self, problem: Any, seed: int, round: int, purpose: Any = None) -> Any:
        members = sorted(self.schedule[round])
        efforts = np.array([self.work[k] for k in members])
        return fc.participation.Draw(np.array(members), efforts=efforts, round=round, seed=seed)


class Case(NamedTuple):
    """A method and its pseudo-code, both made from a positive number p and a count e."""

    method: Callable[[Fraction, int], Any]
    pseudo_code: Callable[..., np.ndarray]
    arguments: Callable[[Fraction, int], dict[str, Any]]
    needs_everybody: bool = False


def server_of(personal: Callable[..., Any]) -> Callable[..., np.ndarray]:
    """The server's points alone, without the clients' models after the last round."""
    return lambda *given, **named: personal(*given, **named)[0]


# How each method's parameters are called in the papers.
CASES = {
    "FedGD": Case(lambda p, e: fc.FedGD(stepsize=p, local_steps=e), paper.fedavg, lambda p, e: {"s": p, "e": e}),
    "FedAvgM": Case(
        lambda p, e: fc.FedAvgM(stepsize=p, local_steps=e, momentum=Fraction(2, 3), server_stepsize=Fraction(3, 2)),
        servers.fedavgm,
        lambda p, e: {"s": p, "e": e, "beta": Fraction(2, 3), "eta": Fraction(3, 2)},
    ),
    "FedAvgM, Nesterov": Case(
        lambda p, e: fc.FedAvgM(stepsize=p, local_steps=e, momentum=Fraction(2, 3), nesterov=True),
        servers.fedavgm,
        lambda p, e: {"s": p, "e": e, "beta": Fraction(2, 3), "fault": "Nesterov"},
    ),
    "FedNova": Case(lambda p, e: fc.FedNova(stepsize=p, local_steps=e), paper.fednova, lambda p, e: {"s": p, "tau": e}),
    "FedDynOneGD": Case(lambda p, e: fc.FedDynOneGD(alpha=p), paper.feddyn_one_gd, lambda p, e: {"alpha": p}),
    "SCAFFOLD, option 1": Case(
        lambda p, e: fc.Scaffold(stepsize=p, local_steps=e, option=1),
        paper.scaffold,
        lambda p, e: {"s": p, "steps": e, "option": 1},
    ),
    "SCAFFOLD, option 2": Case(
        lambda p, e: fc.Scaffold(stepsize=p, local_steps=e),
        paper.scaffold,
        lambda p, e: {"s": p, "steps": e, "option": 2},
    ),
    "SCAFFOLD, server stepsize": Case(
        lambda p, e: fc.Scaffold(stepsize=p, local_steps=e, server_stepsize=Fraction(3, 2), option=2),
        paper.scaffold,
        lambda p, e: {"s": p, "steps": e, "server_stepsize": Fraction(3, 2), "option": 2},
    ),
}
CASES["Ditto"] = Case(
    lambda p, e: fc.Ditto(stepsize=p, local_steps=e, regularization=Fraction(2, 3)),
    server_of(clients.ditto),
    lambda p, e: {"s": p, "e": e, "lam": Fraction(2, 3)},
)
CASES["FedLin"] = Case(
    lambda p, e: fc.FedLin(stepsize=p, local_steps=e), clients.fedlin, lambda p, e: {"s": p, "tau": e}
)
CASES["Scaffnew"] = Case(
    lambda p, e: fc.Scaffnew(stepsize=p),
    clients.scaffnew,
    lambda p, e: {"gamma": p, "p": Fraction(1), "coins": [True] * 3},
    needs_everybody=True,
)
# These leave it open how a client solves its subproblem: exactly, or by gradient steps on all of it.
PROXIMAL = {
    "FedProx": Case(lambda p, e: fc.FedProx(mu=p), paper.fedprox, lambda p, e: {"mu": p}),
    "DANE": Case(lambda p, e: fc.DANE(mu=p), paper.dane, lambda p, e: {"mu": p}),
    "DANE, eta": Case(
        lambda p, e: fc.DANE(mu=p, eta=Fraction(2, 3)), paper.dane, lambda p, e: {"mu": p, "eta": Fraction(2, 3)}
    ),
    "FedDANE": Case(lambda p, e: fc.FedDANE(mu=p), paper.feddane, lambda p, e: {"mu": p}),
    "FedSplit": Case(lambda p, e: fc.FedSplit(stepsize=p), paper.fedsplit, lambda p, e: {"s": p}),
    "FedSplit Act": Case(
        lambda p, e: fc.FedSplit(stepsize=p, server="active"), paper.fedsplit, lambda p, e: {"s": p, "server": "active"}
    ),
    "FedSplit from the server's point": Case(
        lambda p, e: fc.FedSplit(stepsize=p, server="all", start="server"),
        paper.fedsplit,
        lambda p, e: {"s": p, "start": "server"},
    ),
    "FedSplit warm": Case(
        lambda p, e: fc.FedSplit(stepsize=p, server="active", start="warm"),
        paper.fedsplit,
        lambda p, e: {"s": p, "server": "active", "start": "warm"},
    ),
    "FedSplit, Theorem 2": Case(
        lambda p, e: fc.RegularizedFedSplit(stepsize=p, regularization=Fraction(2, 3)),
        paper.fedsplit_theorem_2,
        lambda p, e: {"s": p, "lam": Fraction(2, 3)},
        needs_everybody=True,
    ),
    "FedDyn": Case(lambda p, e: fc.FedDyn(alpha=p), paper.feddyn, lambda p, e: {"alpha": p}),
    "FedADMM": Case(lambda p, e: fc.FedADMM(rho=p), clients.fedadmm, lambda p, e: {"rho": p}),
    "FedADMM, eta": Case(
        lambda p, e: fc.FedADMM(rho=p, server_stepsize=Fraction(3, 4)),
        clients.fedadmm,
        lambda p, e: {"rho": p, "eta": Fraction(3, 4)},
    ),
    "pFedMe": Case(
        lambda p, e: fc.PFedMe(
            regularization=p, stepsize=Fraction(1, 3), local_steps=e, server_stepsize=Fraction(3, 2)
        ),
        server_of(clients.pfedme),
        lambda p, e: {"lam": p, "eta": Fraction(1, 3), "R": e, "beta": Fraction(3, 2)},
    ),
    "FedPD": Case(lambda p, e: fc.FedPD(eta=p), paper.fedpd, lambda p, e: {"eta": p}, needs_everybody=True),
}
# These count local steps, of which clients may do different numbers; the keyword is the papers' number of steps.
STEPPING = {
    "FedLin": "tau",
    "FedGD": "e",
    "FedAvgM": "e",
    "FedNova": "tau",
    "SCAFFOLD, option 1": "steps",
    "SCAFFOLD, option 2": "steps",
}
PARTIAL_CASES = [name for name, case in (CASES | PROXIMAL).items() if not case.needs_everybody]


@st.composite
def problems(draw: Draw, definite: bool = False) -> fc.Quadratic | fc.LeastSquares:
    """Three convex clients in one or two dimensions, at times rank-deficient, with positive weights."""
    d = draw(st.integers(1, 2))
    weights = draw(st.none() | st.lists(POSITIVE, min_size=M, max_size=M) | st.just([1, 2, Fraction(1, 2)]))
    A = [draw(entries(draw(st.integers(1, 2)), d)) for _ in range(M)]
    if definite:
        A = [np.concatenate([A_k, identity(d)]) for A_k in A]
    if draw(st.booleans()):
        return fc.LeastSquares(A, [draw(entries(len(A_k))) for A_k in A], weights)
    return fc.Quadratic([A_k.T @ A_k for A_k in A], [draw(entries(d)) for _ in A], weights)


def schedules(rounds: int) -> st.SearchStrategy[list[list[int]]]:
    return st.lists(st.sampled_from(SETS), min_size=rounds, max_size=rounds)


def run(
    method: Any,
    problem: Any,
    x0: np.ndarray,
    schedule: Sequence[Sequence[int]] | None,
    solver: Any = None,
    work: Sequence[int] | None = None,
) -> np.ndarray:
    """The server's points of three rounds, or as many as are scheduled."""
    who = fc.participation.Full() if schedule is None else fc.participation.Schedule(schedule)
    return fc.simulate(
        method,
        problem,
        rounds=3 if schedule is None else len(schedule),
        participation=who if work is None else UnequalWork(schedule or [EVERYBODY] * 3, work),
        local_solver=solver,
        x0=x0,
        arithmetic="exact",
    ).points


def transcribed(case: Case, problem: Any, x0: np.ndarray, schedule: Any, p: Fraction, e: int, **extra) -> np.ndarray:
    return case.pseudo_code(terms_of(problem), x0, schedule or [EVERYBODY] * 3, **case.arguments(p, e), **extra)


X0 = entries(2)
