"""How loose the bounds are at the numbers of the guide's tables and of the report."""

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction as F
from typing import Any, final

from fedconvex.arithmetic.decimals import Rounding, to_text
from fedconvex.proofs_checks.worst_cases.looseness.asked import identifier_of
from fedconvex.proofs_checks.worst_cases.looseness.factor import INFINITE, SAME, Looseness
from fedconvex.proofs_checks.worst_cases.looseness.quotients import Quotient

DIGITS = 4
PROX: dict[str, Any] = {"mu": 50, "L": 1, "L_minus": 0, "B": F(6, 5)}
DYN = {"L": 1, "num_clients": 10, "num_active": 10}
SYMBOLS = {
    "alpha": "α", "epsilon": "ε", "eta": "η", "gamma": "γ", "kappa": "κ", "mu": "μ", "sigma2": "σ²",
    "num_clients": "m", "num_active": "P", "local_steps": "e", "L_minus": "L₋", "probability": "p",
}  # fmt: skip
TWO = {"num_clients": 2}
ONE_OF_TWO = {"num_clients": 2, "num_active": 1}
STRONG = {**DYN, "mu": F(1, 10)}


def theorems() -> Iterator[tuple[str, dict[str, Any]]]:
    """Theorems, with the numbers of their rows."""
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
    for statement in ("theorem3", "theorem3otherreading", "theorem3sharper"):
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
    for number, alpha in ((1, 30), (5, 50)):
        yield f"feddyn.theorem{number}stronglyconvex", {"alpha": alpha, **STRONG, "T": 1}
        for case in ("convex", "nonconvex"):
            yield f"feddyn.theorem{number}{case}", {"alpha": alpha, **DYN, "T": 1}
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
    yield from restated()


def restated() -> Iterator[tuple[str, dict[str, Any]]]:
    """Statements in the settings of other papers, with the numbers of their rows."""
    smooth: dict[str, Any] = {"stepsize": F(1, 8), "L": 1}
    strongly = {**smooth, "mu": F(1, 4)}
    for statement in ("khaled.twolocalsteps", "fedlin.threelocalsteps", "yuan_li.oneroundshortsteps"):
        yield statement, strongly
    for statement in ("khaled.twolocalstepstrounds", "yuan_li.troundsshortsteps"):
        yield statement, {**strongly, "T": 2}
    yield "khaled.twolocalstepsconvex", {**smooth, "T": 2}
    yield "fedlin.twolocalstepsvalue", smooth
    yield "khaled.twolocalstepsconvexoneround", smooth
    yield "koloskova.onerounddissimilarclients", {**smooth, "B": F(3, 2)}
    yield "gower.oneroundindependentdraws", {**strongly, "K": 2}
    yield "gower.oneroundpofmclients", {**strongly, **ONE_OF_TWO}
    yield "gower.troundspofmclients", {**strongly, **ONE_OF_TWO, "T": 2}
    yield "gower.convexpofmclients", {**smooth, **ONE_OF_TWO, "T": 2}
    yield "scaffnew.acceleration", {**strongly, "probability": F(1, 2)}


def lemmas() -> Iterator[tuple[str, dict[str, Any]]]:
    """Lemmas, with the numbers of their rows."""
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
    yield "khaled.gradients", {"stepsize": F(1, 8), "L": 1, "local_steps": 2}
    yield "li_fedavg.heterogeneityupperbound", {"mu": F(1, 4)}
    yield "li_fedavg.heterogeneitylowerbound", {"L": 1}


@final
@dataclass(frozen=True)
class LoosenessRow:
    """The looseness at given numbers as text, with bounds rounded outwards so that they stay true."""

    statement: str
    at: str
    bound: str
    worst: str
    looseness: str
    is_lemma: bool  # a step of a proof, with the quotient of its two sides


def symbol(name: str) -> str:
    """The symbol that the papers write for an argument."""
    return SYMBOLS.get(name, name)


def row(found: Looseness) -> LoosenessRow:
    """The looseness as a row."""
    at = ", ".join(f"{symbol(name)} = {value}" for name, value in found.numbers.items())
    assert not found.factor[1] < 1, found.says
    identifier = identifier_of(found.statement)
    is_lemma = identifier in {name for name, _ in lemmas()}
    return LoosenessRow(identifier, at, _bound(found), _worst(found), _ends(*found.factor), is_lemma)


def _bound(found: Looseness) -> str:
    """The bound; 1 for the quotient of a statement's two sides."""
    return "1" if found.bound is None else short(F(float(found.bound)), Rounding.NEAREST)


def _worst(found: Looseness) -> str:
    """The worst case, in the bound's unit."""
    if isinstance(found.worst, Quotient):
        return _ends(*(INFINITE if not factor else 1 / factor for factor in reversed(found.factor)))
    lower, upper = found.lower, found.upper
    return f"√({_ends(lower, upper)})" if found.power == 2 else _ends(lower, upper)


def _ends(lower: Any, upper: Any) -> str:
    if upper - lower <= SAME * abs(upper):
        return short(upper, Rounding.NEAREST)
    return f"{short(lower, Rounding.FLOOR)} … {'?' if upper == INFINITE else short(upper, Rounding.CEILING)}"


def short(number: Any, rounding: Rounding) -> str:
    """A number in four digits."""
    return to_text(number, DIGITS, rounding, positional=True)
