"""FedDyn and FedDynOneGD: the exact worst cases that their bounds are compared with.

The theorems are played with everyone taking part (P = m), from memories 0. The lemmas are about one round from any
state: any memories, of which h is the mean, as they are in every run; whether a run comes to the worst of them is not
asked. Of draws the lemmas see second moments only, which are exact.
"""

from fractions import Fraction
from typing import Any

import fedconvex as fc
from fedconvex.methods.base import State
from fedconvex.proofs_checks.worst_cases.asking import Compared, Played, asks, compared, decreasing, everyone
from fedconvex.proofs_checks.worst_cases.classes import (
    FunctionClass,
    NotSmooth,
    SmoothConvex,
    SmoothStronglyConvex,
    WeaklyConvex,
)
from fedconvex.proofs_checks.worst_cases.forms import mean, shared, square
from fedconvex.proofs_checks.worst_cases.playing import Board, answered, in_rationals
from fedconvex.statements.statement import Statement
from fedconvex.theory import feddyn

STATES: Any = {"remark": "over all states of which h is the mean of the memories", "any_state": True}
ONE, NONE = Fraction(1), Fraction(0)


def _theorem(
    statement: Statement, method: Any, clients: FunctionClass, metric: str, start: tuple[str, str], counted: str,
    num_clients: int, numbers: dict[str, Any], weights: list[Any] | None = None, scale: Any = 1,
) -> Played:  # fmt: skip
    """The bound is c·(first) + e·(second) of what the start is like; the metric is divided by first + (e/c)·second.

    `scale` times the metric is what is bounded.
    """
    first, second = start
    one, other = (statement(**numbers, **{first: a, second: b}) for a, b in ((ONE, NONE), (NONE, ONE)))
    question = {
        "method": method, "clients": clients, "num_clients": num_clients, "rounds": int(numbers["T"]),
        "metric": metric, counted: other / one, "weights": weights,
    }  # fmt: skip
    return Played(question, one / scale)


@asks(feddyn.theorem2, feddyn.theorem2sharper)
def theorem2(statement: Statement, *, alpha: Any, L: Any, num_clients: Any, num_active: Any, T: Any) -> Played:
    m = everyone(num_clients, num_active)
    numbers = {"alpha": alpha, "L": L, "num_clients": num_clients, "num_active": num_active, "T": T}
    method, clients = fc.FedDyn(alpha=alpha), SmoothConvex(L)
    return _theorem(statement, method, clients, "average_gap", ("D0", "G"), "heterogeneity", m, numbers)


@asks(feddyn.theorem3, feddyn.theorem3sharper)
def theorem3(statement: Statement, *, alpha: Any, L: Any, mu: Any, num_clients: Any, num_active: Any, T: Any) -> Played:
    m = everyone(num_clients, num_active)
    numbers = {"alpha": alpha, "L": L, "mu": mu, "num_clients": num_clients, "num_active": num_active, "T": T}
    weights = [(1 + mu / alpha) ** t for t in range(int(T))]
    method, clients = fc.FedDyn(alpha=alpha), SmoothStronglyConvex(mu, L)
    return _theorem(statement, method, clients, "average_gap", ("D0", "G"), "heterogeneity", m, numbers, weights)


@asks(feddyn.theorem4, feddyn.theorem4sharper)
def theorem4(statement: Statement, *, alpha: Any, L: Any, num_clients: Any, num_active: Any, T: Any) -> Played:
    m = everyone(num_clients, num_active)
    numbers = {"alpha": alpha, "L": L, "num_clients": num_clients, "num_active": num_active, "T": T}
    method, clients = fc.FedDyn(alpha=alpha), WeaklyConvex(L, L)
    return _theorem(statement, method, clients, "mean_gradient_norm", ("delta", "spread"), "spread", m, numbers)


@asks(feddyn.equation18, feddyn.equation18sharper)
def equation18(
    statement: Statement, *, alpha: Any, L: Any, mu: Any, num_clients: Any, num_active: Any, T: Any
) -> Played:
    """The sum of weighted gaps is divided by T, not by the sum of the weights."""
    m = everyone(num_clients, num_active)
    numbers = {"alpha": alpha, "num_clients": num_clients, "num_active": num_active, "T": T}
    weights = [(1 + mu / (3 * alpha)) ** t for t in range(int(T))]
    method, clients = fc.FedDynOneGD(alpha=alpha), SmoothStronglyConvex(mu, L)
    return _theorem(statement, method, clients, "mean_gap", ("D0", "G"), "heterogeneity", m, numbers, weights,
                    sum(weights) / T)  # fmt: skip


@asks(feddyn.equation20, feddyn.equation20sharper)
def equation20(statement: Statement, *, alpha: Any, L: Any, num_clients: Any, num_active: Any, T: Any) -> Played:
    """B₀ is the mean ‖∇L_k(θ⁰)‖²."""
    m = everyone(num_clients, num_active)
    numbers = {"alpha": alpha, "L": L, "num_clients": num_clients, "num_active": num_active, "T": T}
    method, clients = fc.FedDynOneGD(alpha=alpha), WeaklyConvex(L, L)
    return _theorem(statement, method, clients, "mean_gradient_norm", ("delta", "B0"), "heterogeneity", m, numbers)


class _Round:
    """One round from any state, and the quantities that the lemmas are about, as in `setting`.

    Memories are any vectors: a client's function has every gradient somewhere, whatever else is known of it. Only where
    C is a distance of the θ_k is that point on the board.
    """

    def __init__(
        self, method: Any, functions: FunctionClass, num_clients: Any = 2, num_active: Any = None, **numbers: Any
    ) -> None:
        m, P = int(num_clients), int(num_clients if num_active is None else num_active)
        self.board = board = Board(min(m, 2), functions, minimiser=functions.lowest >= 0)
        method = in_rationals(method)
        self.models, memories = board.vectors("models"), board.vectors("memories")
        if isinstance(method, fc.FedDyn) and not board.minimiser:
            board.found(self.models, memories)
        server, h = shared("server"), mean(memories)
        state = State(server, shared={"h": h}, memory={"gradient": memories})
        _, virtual = answered(method, method.local_solver, board, state)
        now = board.at(average := server + h / method.alpha)
        following = mean(virtual)
        scale, part = Fraction(m - P, P * (m - 1)) if m > P else Fraction(0), Fraction(P, m)
        drawn = square(virtual - following) * scale  # what the draw adds to second moments of γ^t
        new = board.at(virtual).gradient if isinstance(method, fc.FedDyn) else board.at(server).gradient
        self.virtual, self.server, self.following = virtual, server, following
        self.known: dict[str, Any] = {
            **numbers, "num_clients": Fraction(m), "num_active": Fraction(P),
            "epsilon": square(virtual - average), "move": square(following - average) + drawn,
            "gradient_square": square(mean(now.gradient)), "loss": board.height(now),
            "B": square(memories - now.gradient),
        }  # fmt: skip
        if board.minimiser:
            error = square(memories - board.pulls)
            after_error = error * (1 - part) + square(new - board.pulls) * part
            self.known |= {
                "distance": square(average), "distance_next": square(following) + drawn, "gap": board.height(now),
                "C": error, "C_next": after_error, "A": error, "A_next": after_error,
            }  # fmt: skip
        else:
            self.known["C"] = square(self.models - average)


def _exactly(alpha: Any, functions: FunctionClass, **numbers: Any) -> _Round:
    return _Round(fc.FedDyn(alpha=alpha), functions, alpha=alpha, **numbers)


def _one_gradient(alpha: Any, functions: FunctionClass, **numbers: Any) -> _Round:
    return _Round(fc.FedDynOneGD(alpha=alpha), functions, alpha=alpha, **numbers)


@asks(feddyn.lemma4, feddyn.lemma4sharper)
def lemma4(statement: Statement, *, alpha: Any, L: Any) -> Compared:
    found = _exactly(alpha, SmoothConvex(L), L=L)
    return compared(found.board, statement, found.known, **STATES)


@asks(feddyn.lemma5)
def lemma5(statement: Statement, *, alpha: Any, L: Any, num_clients: Any, num_active: Any) -> Compared:
    """α is no part of the lemma, but of the round."""
    found = _exactly(alpha, SmoothConvex(L), L=L, num_clients=num_clients, num_active=num_active)
    return compared(found.board, statement, found.known, found.known["C_next"], **STATES)


@asks(feddyn.lemma1, feddyn.lemma1sharper)
def lemma1(statement: Statement, *, alpha: Any, L: Any, num_clients: Any, num_active: Any) -> Compared:
    """The gap that is promised, against the decrease."""
    found = _exactly(alpha, SmoothConvex(L), L=L, num_clients=num_clients, num_active=num_active)
    return decreasing(found.board, statement, found.known, "gap", **STATES)


@asks(feddyn.lemma8, feddyn.lemma8sharper)
def lemma8(statement: Statement, *, alpha: Any, L: Any, mu: Any, num_clients: Any, num_active: Any) -> Compared:
    """The gap that is promised, against the decrease."""
    found = _exactly(alpha, SmoothStronglyConvex(mu, L), L=L, mu=mu, num_clients=num_clients, num_active=num_active)
    return decreasing(found.board, statement, found.known, "gap", **STATES)


@asks(feddyn.lemma10, feddyn.lemma10assummed, feddyn.lemma10sharper)
def lemma10(statement: Statement, *, alpha: Any, L: Any, num_clients: Any, num_active: Any) -> Compared:
    """The gradient that is promised, against the decrease, of everyone: C_t is then about θ_k^t and their mean."""
    everyone(num_clients, num_active)
    found = _exactly(alpha, WeaklyConvex(L, L), L=L, num_clients=num_clients)
    known = found.known | {
        "loss_next": found.board.height(found.board.at(found.following)),
        "C_next": square(found.virtual - found.following),
    }
    return decreasing(found.board, statement, known, "gradient_square", **STATES)


@asks(feddyn.lemma11, feddyn.lemma11sharper)
def lemma11(statement: Statement, *, alpha: Any, L: Any) -> Compared:
    found = _exactly(alpha, WeaklyConvex(L, L), L=L)
    return compared(found.board, statement, found.known, **STATES)


@asks(feddyn.lemma14)
def lemma14(statement: Statement, *, alpha: Any, L: Any) -> Compared:
    found = _one_gradient(alpha, SmoothConvex(L), L=L)
    return compared(found.board, statement, found.known, found.known["epsilon"], **STATES)


@asks(feddyn.lemma15)
def lemma15(statement: Statement, *, alpha: Any, L: Any, num_clients: Any, num_active: Any) -> Compared:
    found = _one_gradient(alpha, SmoothConvex(L), L=L, num_clients=num_clients, num_active=num_active)
    return compared(found.board, statement, found.known, found.known["A_next"], **STATES)


@asks(feddyn.lemma16)
def lemma16(statement: Statement, *, alpha: Any, num_clients: Any, num_active: Any) -> Compared:
    """No class of functions: vectors of which the round makes others."""
    found = _one_gradient(alpha, NotSmooth(0), num_clients=num_clients, num_active=num_active)
    return decreasing(found.board, statement, found.known, "distance_next", -square(found.server), **STATES)


@asks(feddyn.lemma19, feddyn.lemma19sharper)
def lemma19(statement: Statement, *, alpha: Any, L: Any) -> Compared:
    found = _one_gradient(alpha, WeaklyConvex(L, L), L=L)
    return compared(found.board, statement, found.known, found.known["epsilon"], **STATES)
