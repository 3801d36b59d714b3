"""Attacks through any number of local steps: poles and powers at the first step, client drift, SCAFFOLD's variants."""

from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest

from fedconvex.claims.claim import Claim, ClaimSetting, DrawScheme, at_most, equal
from fedconvex.claims.methods import running
from fedconvex.claims.terms import (
    Number,
    Vector,
    after,
    answers,
    before_last_step,
    family,
    gradient,
    local_gradients,
    local_step,
    mean,
    memory,
    minimiser,
    number,
    parameter,
    server,
    shared,
    square,
    value,
)
from fedconvex.proofs_checks.kernel import theorem
from fedconvex.proofs_checks.kernel.proofs import STEP, AlongSteps, Between, Derivation, Iterate, Nonnegative, Upper
from fedconvex.proofs_checks.library import Parts, by, cited, concluding, squared, with_example

from .attacks import is_false, one_line, refused, same

s, e, i, T, P, m = (parameter(name) for name in ("s", "e", STEP, "T", "P", "m"))
w, u, last, q, ONE = server(0), family("u"), before_last_step, 1 - s, number(1)
SETTING = with_example(ClaimSetting(
    method="FedGD", method_parameters={"stepsize": s, "local_steps": e}, curvature=(ONE, number(2)), minimiser=True,
    signs={"s": "positive", "e": "positive"}, counts=frozenset({"e"}), conditions=((number(Fraction(1, 2)), ">=", s),),
))  # fmt: skip
ALONE = replace(SETTING, single_client=True)
SCAFFOLD = replace(SETTING, **running("Scaffold", stepsize=s, local_steps=e))
FEDLIN = replace(SETTING, method="FedLin")
CONTROLS = (("shared c", mean(memory("c", 0))),)


def along(potential: Number, of_step: Parts | None = None, start: Vector = w) -> AlongSteps:
    used = of_step or by(Nonnegative(number(0)))
    return AlongSteps(potential, "u", start, used.facts, used.squares, "steps")


POTENTIALS = {
    "a pole before the first step": (1 / i, "ι may be 0, and is divided by"),
    "a pole before the last step": (1 / (e - 1 - i), "may be 0, and is divided by"),
    "a pole of a power of 0": (number(0) ** (i - 1), "may be 0, and is divided by"),
    "a pole of a power that may be 0": ((1 - 2 * s) ** (i - 1), "may be 0, and is divided by"),
    "a power of a negative number": (number(-1) ** i, "which may be negative"),
    "a power with a square": (number(2) ** (i * i), "not T plus an integer"),
    "a power with a product": (number(2) ** (e * i), "not T plus an integer"),
    "half a power": (number(2) ** (i / 2), "not T plus an integer"),
    "a number that grows": (i, r"one step: \(-1\)·1 is left"),
    "0^ι, which falls from 1 to 0": (number(0) ** i, "not the inequality of one step"),
}  # fmt: skip


@pytest.mark.parametrize(("potential", "reason"), POTENTIALS.values(), ids=list(POTENTIALS))
def test_a_potential_has_a_value_before_every_step(potential: Number, reason: str) -> None:
    claim = at_most(0, 0)
    refused(SETTING, claim, Derivation((along(potential), concluding(claim, cited("steps")))), reason)


def nearer(at: Vector) -> Parts:
    """A gradient step of one function contracts distances from its minimiser by q."""
    slope = gradient(at) - gradient(minimiser)
    return 2 * s**2 * by(Between(at, minimiser, ONE, 1 / s)) + s**2 * squared(slope - (at - minimiser))


CONTRACTS = at_most(square(answers - minimiser), q ** (2 * e) * square(w - minimiser))


def contracting(of_step: Parts | None = None, start: Vector = w, claim: Claim = CONTRACTS) -> Derivation:
    """By V_i = ‖u_i − x*‖²/q^{2(i−1)}."""
    steps = along(square(u - minimiser) / q ** (2 * (i - 1)), 1 / q ** (2 * i) * (of_step or nearer(u)), start)
    return Derivation((steps, concluding(claim, q ** (2 * e) / q**2 * cited("steps") + nearer(last))))


@pytest.mark.parametrize("power", [2 * e + 1, 2 * e + 2, 2 * e + 7])
def test_one_client_contracts_and_no_faster(power: Number) -> None:
    for method in ("FedGD", "FedLin"):
        assert theorem(replace(ALONE, method=method), CONTRACTS, contracting())
    faster = replace(CONTRACTS, right=q**power * square(w - minimiser))
    refused(ALONE, faster, contracting(claim=faster), "not the claim")
    refused(ALONE, faster, contracting(), "the last line is not the claim")
    assert is_false(ALONE, faster)


def test_several_clients_drift() -> None:
    reason = "not the inequality of one step"
    for setting in (SETTING, SCAFFOLD, FEDLIN):
        refused(setting, CONTRACTS, contracting(), reason)
        assert is_false(setting, CONTRACTS)
    refused(ALONE, CONTRACTS, contracting(nearer(family("v"))), reason)
    refused(ALONE, CONTRACTS, contracting(start=u), "start somewhere else")


def test_every_client_descends_but_their_mean_need_not() -> None:
    setting = replace(SETTING, signs={**SETTING.signs, "T": "positive"}, counts=frozenset({"e", "T"}),
                      example={**SETTING.example, "T": Fraction(2)})  # fmt: skip

    def fall(at: Vector) -> Parts:
        return by(Upper(local_step(at), at)) + s * (1 - s) * squared(gradient(at))

    steps, ended = along(value(u), fall(u)), cited("steps") + fall(last)
    claim = at_most(after(value(w)), value(w), rounds="T")
    proof = Derivation((Iterate(value(w), ONE, number(0), ended.facts, ended.squares),), of_round=(steps,))
    refused(setting, claim, proof, "not the inequality of one round")
    assert is_false(setting, claim, 300)
    # The same number of rounds as of local steps, of one client: no rule takes one for the other.
    squared_run = replace(claim, rounds="e")
    assert theorem(ALONE, squared_run, proof)
    less = replace(squared_run, left=claim.left + e, right=claim.right)
    potential = replace(proof.lines[0], potential=value(w) + i)
    refused(ALONE, less, replace(proof, lines=(potential,)), "not the claim")


def test_a_fixed_point_of_several_steps_need_not_be_stationary() -> None:
    rests = replace(SETTING, rests=True)
    drift = equal(s * mean(gradient(last)), mean(last) - w)
    assert theorem(rests, drift, one_line(drift))
    for false in (equal(mean(gradient(w)), 0 * w), equal(last, w)):
        refused(rests, false, one_line(false), "vectors differ")


def test_scaffolds_options_and_stepsizes_are_not_mixed_up() -> None:
    def having(**more: Any) -> ClaimSetting:
        return replace(SCAFFOLD, method_parameters={**SCAFFOLD.method_parameters, **more})

    path, point, step = (
        (memory("c", 1), local_gradients / e),
        (memory("c", 1), gradient(w)),
        (server(1), mean(answers)),
    )
    for option, true, false in ((1, point, path), (2, path, point)):
        assert theorem(having(option=number(option)), *same(*true, CONTROLS))
        refused(having(option=number(option)), *same(*false, CONTROLS), "vectors differ")
    assert theorem(having(server_stepsize=ONE), *same(*step, CONTROLS))
    for size in (number(2), s):
        refused(having(server_stepsize=size), *same(*step, CONTROLS), "vectors differ")
    refused(having(option=e), *same(*step, CONTROLS), "option that is no integer")


def test_clients_that_are_not_drawn_keep_their_control_variates() -> None:
    setting = replace(
        SCAFFOLD, draws=DrawScheme("uniform", P, m), conditions=(*SETTING.conditions, (m, ">=", P)),
        signs={**SETTING.signs, "P": "positive", "m": "positive"}, counts=frozenset({"e", "P", "m"}),
        example={**SETTING.example, "P": Fraction(1), "m": Fraction(2)},
    )  # fmt: skip
    assert theorem(setting, *same(shared("c", 1), mean(memory("c", 1)), CONTROLS))
    for wrong in ((memory("c", 1), local_gradients / e), (server(1), mean(answers))):
        refused(setting, *same(*wrong, CONTROLS), "vectors differ")


def test_no_invariant_holds_what_a_round_changes() -> None:
    claim, proof = same(server(1), mean(answers), CONTROLS)
    for always, reason in ((mean(gradient(w)), "at the start"), (before_last_step, "about the round")):
        refused(SCAFFOLD, claim, replace(proof, invariants=(("shared c", always),)), reason)
