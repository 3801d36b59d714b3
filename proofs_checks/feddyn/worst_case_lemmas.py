"""FedDyn and FedDynOneGD: the worst-case problems of the lemmas and displayed equations about one round.

The worst case is over all states in which h is the mean of the memories, as in every run; a run need not reach the
worst state. Most statements depend on the draw through second moments only, which are exact. Where a statement contains
function values after the draw, the problem contains every possible draw.
"""

from fractions import Fraction
from typing import Any

import fedconvex as fc
from fedconvex.errors import InvalidInput
from fedconvex.methods.base import State
from fedconvex.proofs_checks.worst_cases.looseness.registry import Compared, compared, decreasing, worst_case_of
from fedconvex.proofs_checks.worst_cases.programs.quadratic_forms import Form, mean, shared, square
from fedconvex.proofs_checks.worst_cases.questions.board import Board
from fedconvex.proofs_checks.worst_cases.questions.enumerated_board import EnumeratedBoard
from fedconvex.proofs_checks.worst_cases.questions.function_classes import (
    FunctionClass,
    NotSmooth,
    SmoothConvex,
    SmoothStronglyConvex,
    WeaklyConvex,
)
from fedconvex.proofs_checks.worst_cases.questions.question import MOST
from fedconvex.proofs_checks.worst_cases.questions.sampling import EVERYONE, Draws
from fedconvex.proofs_checks.worst_cases.questions.specification import in_rationals
from fedconvex.proofs_checks.worst_cases.questions.symbolic_rounds import answered, drawn_round, replaced, rows
from fedconvex.statements.statement import Statement
from fedconvex.theory import feddyn

STATES: Any = {"remark": "over all states of which h is the mean of the memories", "any_state": True}


class _FedDynRound:
    """One round from any state, and the quantities that the lemmas are about, as in `notation`.

    The memories are arbitrary vectors: some function of the class has the memory as its gradient at some point. That
    point is part of the problem only where C is a squared distance of the θ_k.
    """

    def __init__(
        self, method: Any, functions: FunctionClass, num_clients: Any = 2, num_active: Any = None,
        written: bool = False, **numbers: Any,
    ) -> None:  # fmt: skip
        m, P = int(num_clients), int(num_clients if num_active is None else num_active)
        minimiser = functions.lowest >= 0
        self.draws, self.method = (Draws(P, m) if written else EVERYONE), in_rationals(method)
        board: Any = Board(min(m, 2), functions, minimiser)
        if written:
            board = EnumeratedBoard.of(m, functions, minimiser)
        self.board, method = board, self.method
        self.models, memories = board.vectors("models"), board.vectors("memories")
        if isinstance(method, fc.FedDyn) and not board.minimiser:
            board.record(self.models, memories)
        server, h = shared("server"), mean(memories)
        self.state = State(server, shared={"h": h}, memory={"gradient": memories})
        _, virtual = answered(method, method.local_solver, board, self.state)
        now = board.at(average := server + h / method.alpha)
        following = mean(virtual)
        scale, part = Fraction(m - P, P * (m - 1)) if m > P else Fraction(0), Fraction(P, m)
        drawn = square(virtual - following) * scale  # what the draw adds to second moments of γ^t
        new = board.at(virtual).gradient if isinstance(method, fc.FedDyn) else board.at(server).gradient
        self.virtual, self.server, self.following, self.average = virtual, server, following, average
        self.h, self.now, self.new = h, now, new
        self.known: dict[str, Any] = {
            **numbers, "num_clients": Fraction(m), "num_active": Fraction(P),
            "epsilon": square(virtual - average), "move": square(following - average) + drawn,
            "gradient_square": square(mean(now.gradient)), "loss": board.mean_value(now),
            "B": square(memories - now.gradient),
        }  # fmt: skip
        if board.minimiser:
            error = square(memories - board.minimiser_gradients)
            after_error = error * (1 - part) + square(new - board.minimiser_gradients) * part
            self.known |= {
                "distance": square(average), "distance_next": square(following) + drawn, "gap": board.mean_value(now),
                "C": error, "C_next": after_error, "A": error, "A_next": after_error,
            }  # fmt: skip
        else:
            self.known["C"] = square(self.models - average)


def _exactly(alpha: Any, functions: FunctionClass, **numbers: Any) -> _FedDynRound:
    return _FedDynRound(fc.FedDyn(alpha=alpha), functions, alpha=alpha, **numbers)


def _one_gradient(alpha: Any, functions: FunctionClass, **numbers: Any) -> _FedDynRound:
    return _FedDynRound(fc.FedDynOneGD(alpha=alpha), functions, alpha=alpha, **numbers)


def _smooth(method: Any, L: Any, num_clients: Any, num_active: Any) -> tuple[Any, dict[str, Any]]:
    """The problem of a round of smooth devices, and the quantities after it, in expectation over every draw."""
    everyone = num_active == num_clients
    if not everyone and num_clients * Draws(int(num_active), int(num_clients)).number > MOST:
        raise InvalidInput("num_clients", num_clients, f"leaves too many ways to draw {num_active} of them",
                           "give fewer, or num_active = num_clients")  # fmt: skip
    found = _FedDynRound(
        method, WeaklyConvex(L, L), num_clients, num_active, written=not everyone, L=L, alpha=method.alpha
    )
    board, models = found.board, found.models
    loss, C, B = Form(), Form(), Form()
    for chance, draw in [(Fraction(1), None)] if everyone else found.draws.every():
        average, new, theta = found.following, found.new, found.virtual
        if draw is not None and draw.members is not None:
            members = draw.members.tolist()
            after, average = drawn_round(found.method, found.method.local_solver, board, found.state, draw)
            new, theta = after.memory["gradient"], replaced(models, members, rows(theta, members), board.clients)
        following = board.at(average)
        loss = loss + board.mean_value(following) * chance
        C = C + square(theta - average) * chance
        B = B + square(new - following.gradient) * chance
    return board, found.known | {"loss_next": loss, "C_next": C, "B_next": B}


@worst_case_of(feddyn.lemma4, feddyn.lemma4sharper)
def lemma4(statement: Statement, *, alpha: Any, L: Any) -> Compared:
    found = _exactly(alpha, SmoothConvex(L), L=L)
    return compared(found.board, statement, found.known, **STATES)


@worst_case_of(feddyn.lemma5)
def lemma5(statement: Statement, *, alpha: Any, L: Any, num_clients: Any, num_active: Any) -> Compared:
    """The lemma does not contain α, but the round depends on it."""
    found = _exactly(alpha, SmoothConvex(L), L=L, num_clients=num_clients, num_active=num_active)
    return compared(found.board, statement, found.known, found.known["C_next"], **STATES)


@worst_case_of(feddyn.lemma1, feddyn.lemma1sharper)
def lemma1(statement: Statement, *, alpha: Any, L: Any, num_clients: Any, num_active: Any) -> Compared:
    """The gap that is promised, against the decrease."""
    found = _exactly(alpha, SmoothConvex(L), L=L, num_clients=num_clients, num_active=num_active)
    return decreasing(found.board, statement, found.known, "gap", **STATES)


@worst_case_of(feddyn.lemma8, feddyn.lemma8sharper)
def lemma8(statement: Statement, *, alpha: Any, L: Any, mu: Any, num_clients: Any, num_active: Any) -> Compared:
    """The gap that is promised, against the decrease."""
    found = _exactly(alpha, SmoothStronglyConvex(mu, L), L=L, mu=mu, num_clients=num_clients, num_active=num_active)
    return decreasing(found.board, statement, found.known, "gap", **STATES)


@worst_case_of(feddyn.lemma10, feddyn.lemma10assummed, feddyn.lemma10sharper)
def lemma10(statement: Statement, *, alpha: Any, L: Any, num_clients: Any, num_active: Any) -> Compared:
    """The gradient that is promised, against the decrease."""
    board, known = _smooth(fc.FedDyn(alpha=alpha), L, num_clients, num_active)
    return decreasing(board, statement, known, "gradient_square", **STATES)


@worst_case_of(feddyn.lemma11, feddyn.lemma11sharper)
def lemma11(statement: Statement, *, alpha: Any, L: Any) -> Compared:
    found = _exactly(alpha, WeaklyConvex(L, L), L=L)
    return compared(found.board, statement, found.known, **STATES)


@worst_case_of(feddyn.lemma14)
def lemma14(statement: Statement, *, alpha: Any, L: Any) -> Compared:
    found = _one_gradient(alpha, SmoothConvex(L), L=L)
    return compared(found.board, statement, found.known, found.known["epsilon"], **STATES)


@worst_case_of(feddyn.lemma15)
def lemma15(statement: Statement, *, alpha: Any, L: Any, num_clients: Any, num_active: Any) -> Compared:
    found = _one_gradient(alpha, SmoothConvex(L), L=L, num_clients=num_clients, num_active=num_active)
    return compared(found.board, statement, found.known, found.known["A_next"], **STATES)


@worst_case_of(feddyn.lemma16)
def lemma16(statement: Statement, *, alpha: Any, num_clients: Any, num_active: Any) -> Compared:
    """No class of functions: vectors of which the round makes others."""
    found = _one_gradient(alpha, NotSmooth(0), num_clients=num_clients, num_active=num_active)
    return decreasing(found.board, statement, found.known, "distance_next", -square(found.server), **STATES)


@worst_case_of(feddyn.lemma19, feddyn.lemma19sharper)
def lemma19(statement: Statement, *, alpha: Any, L: Any) -> Compared:
    found = _one_gradient(alpha, WeaklyConvex(L, L), L=L)
    return compared(found.board, statement, found.known, found.known["epsilon"], **STATES)


@worst_case_of(feddyn.lemma3)
def lemma3(statement: Statement, *, alpha: Any, L: Any, num_clients: Any, num_active: Any) -> Compared:
    found = _exactly(alpha, WeaklyConvex(L, L), L=L, num_clients=num_clients, num_active=num_active)
    return compared(found.board, statement, found.known, found.known["move"], **STATES)


@worst_case_of(feddyn.lemma7, feddyn.lemma17)
def lemma7(statement: Statement, *, alpha: Any, L: Any) -> Compared:
    """About one time."""
    found = _exactly(alpha, SmoothConvex(L), L=L)
    known = found.known | {"C_next": found.known["C"], "A_next": found.known["A"]}
    return compared(found.board, statement, known, square(found.h), **STATES)


@worst_case_of(feddyn.lemma9)
def lemma9(statement: Statement, *, alpha: Any, L: Any, num_clients: Any, num_active: Any) -> Compared:
    found = _exactly(alpha, SmoothConvex(L), L=L, num_clients=num_clients, num_active=num_active)
    return decreasing(found.board, statement, found.known, "distance_next", -square(found.virtual), **STATES)


@worst_case_of(feddyn.equation10)
def equation10(statement: Statement, *, alpha: Any, L: Any, num_clients: Any, num_active: Any) -> Compared:
    """The gap that is promised, against the decrease and the two errors."""
    found = _exactly(alpha, SmoothConvex(L), L=L, num_clients=num_clients, num_active=num_active)
    return decreasing(found.board, statement, found.known, "gap", found.known["distance_next"], **STATES)


@worst_case_of(feddyn.equation12, feddyn.equation13)
def equation12(statement: Statement, *, alpha: Any, L: Any, mu: Any, num_clients: Any, num_active: Any) -> Compared:
    found = _exactly(alpha, SmoothStronglyConvex(mu, L), L=L, mu=mu, num_clients=num_clients, num_active=num_active)
    return decreasing(found.board, statement, found.known, "gap", found.known["distance_next"], **STATES)


@worst_case_of(feddyn.lemma12, feddyn.lemma12sharper)
def lemma12(statement: Statement, *, alpha: Any, L: Any, num_clients: Any, num_active: Any) -> Compared:
    board, known = _smooth(fc.FedDyn(alpha=alpha), L, num_clients, num_active)
    return compared(board, statement, known, known["C_next"], **STATES)


@worst_case_of(feddyn.equation14)
def equation14(statement: Statement, *, alpha: Any, L: Any, num_clients: Any, num_active: Any) -> Compared:
    board, known = _smooth(fc.FedDyn(alpha=alpha), L, num_clients, num_active)
    return decreasing(board, statement, known, "gradient_square", **STATES)


@worst_case_of(feddyn.lemma18)
def lemma18(statement: Statement, *, alpha: Any, L: Any) -> Compared:
    """About one time."""
    found = _one_gradient(alpha, SmoothConvex(L), L=L)
    known = found.known | {"A_next": found.known["A"]}
    return compared(found.board, statement, known, square(found.server - found.average), **STATES)


@worst_case_of(feddyn.lemma20)
def lemma20(statement: Statement, *, alpha: Any, L: Any, num_clients: Any, num_active: Any) -> Compared:
    board, known = _smooth(fc.FedDynOneGD(alpha=alpha), L, num_clients, num_active)
    return compared(board, statement, known, known["B_next"], **STATES)


@worst_case_of(feddyn.lemma21)
def lemma21(statement: Statement, *, alpha: Any, L: Any) -> Compared:
    """About one time."""
    found = _one_gradient(alpha, WeaklyConvex(L, L), L=L)
    known = found.known | {"B_next": found.known["B"], "gradient_square_next": found.known["gradient_square"]}
    return compared(found.board, statement, known, square(found.now.gradient - found.new), **STATES)


@worst_case_of(feddyn.equation17)
def equation17(statement: Statement, *, alpha: Any, L: Any, mu: Any, num_clients: Any, num_active: Any) -> Compared:
    numbers = {"L": L, "mu": mu, "num_clients": num_clients, "num_active": num_active}
    found = _one_gradient(alpha, SmoothStronglyConvex(mu, L), **numbers)
    return compared(found.board, statement, found.known, **STATES)


@worst_case_of(feddyn.equation19)
def equation19(statement: Statement, *, alpha: Any, L: Any, num_clients: Any, num_active: Any) -> Compared:
    board, known = _smooth(fc.FedDynOneGD(alpha=alpha), L, num_clients, num_active)
    return decreasing(board, statement, known, "gradient_square", known["loss_next"] - known["loss"], **STATES)
