"""Attacks through the method, and invariants of its state that do not hold."""

from fractions import Fraction
from typing import Any

from fedconvex.claims.claim import ClaimSetting, DrawScheme, at_most, equal
from fedconvex.claims.methods import running
from fedconvex.claims.terms import (
    Vector,
    answers,
    gradient,
    last_answers,
    mean,
    memory,
    number,
    parameter,
    server,
    shared,
    solutions,
    square,
)

from .attacks import ONE, POSITIVE, TRUE, ZERO, Attack, a, accepted, changed, drawing, parametrised, with_defaults

P = parameter("P")

# ---- methods

SAME = equal(square(server(1)), square(server(1)))
SELF = equal(server(1), server(1))
EVERYONE = {"draws": DrawScheme(), "counts": frozenset(), "conditions": ()}


def method(name: str, reason: str, claim: Any = SELF, draws: Any = None, **more: Any) -> Attack:
    parameters = more.pop("parameters", None)
    setting = drawing(name if parameters is None else "", **(more | ({} if draws is None else {"draws": draws})))
    if parameters is not None:
        setting = changed(setting, method=name, method_parameters=with_defaults(name, parameters))
    return Attack(reason, setting, claim)


BIG = number(10**9)
METHOD_ATTACKS = {
    "no such method": method("FedMagic", "no method"),
    "a method's base class": method("Averaging", "no method"),
    "the name of a module": method("fedprox", "no method"),
    "FedAvg": method("FedAvg", "is not analysed"),
    "FedSGD with batches": method("FedSGD", "AttributeError|no integer|not analysed",
        parameters={"stepsize": a, "batch_size": number(10)}),
    "AdaptiveFedProx": method("AdaptiveFedProx", "TypeError|function values", parameters={"mu": a}),
    "FedAdagrad": method("FedAdagrad", "number is added to a vector", parameters={"stepsize": a}),
    "FedAdam": method("FedAdam", "number is added to a vector", parameters={"stepsize": a}),
    "FedYogi": method("FedYogi", "number is added to a vector", parameters={"stepsize": a}),
    "Scaffnew with local rounds": method("Scaffnew", "without communication",
        parameters={"stepsize": a, "probability": number(Fraction(1, 2))}, draws=DrawScheme()),
    "Scaffnew with an unknown probability": method("Scaffnew", "without communication",
        parameters={"stepsize": a, "probability": 1 / (1 + P)}, draws=DrawScheme()),
    "Scaffnew for some clients": method("Scaffnew", "depends on two draws", parameters={"stepsize": a}),
    "Ditto": method("Ditto", "second local problem", parameters={"stepsize": a, "regularization": a}),
    "pFedMe": method("PFedMe", "second local problem",
        parameters={"stepsize": a, "regularization": a, "local_steps": number(2)}),
    **{name: Attack("leave out .*compr", changed(drawing(""), method=name, method_parameters={"stepsize": a}), SELF)
       for name in ("DIANA", "EF21")},
    "FedAvgM with a momentum that may be 1": method("FedAvgM", "does not follow|must be less than 1",
        parameters={"stepsize": a, "momentum": P}),
    "FedDANE with a second draw": method("FedDANE", "second draw"),
    "FedDANE with independent draws": method("FedDANE", "second draw", draws=DrawScheme("independent", P)),
    "FedPD for some clients": method("FedPD", "depends on two draws"),
    "FedPD with local rounds": method("FedPD", "skip that is no integer",
        parameters={"eta": a, "skip": number(Fraction(1, 2))}, draws=DrawScheme()),
    "FedPD with an unknown chance of local rounds": method("FedPD", "skip that is no integer",
        parameters={"eta": a, "skip": a}, draws=DrawScheme()),
    "FedPD with local rounds alone": method("FedPD", "is not a probability below 1",
        parameters={"eta": a, "skip": number(1)}, draws=DrawScheme()),
    "FedDyn with memories and independent draws": method("FedDyn", "not known for this draw",
        draws=DrawScheme("independent", P)),
    "SCAFFOLD with independent draws": method("Scaffold", "not known for this draw",
        draws=DrawScheme("independent", P)),
    "SCAFFOLD's third option": method("Scaffold", "neither 1 nor 2", parameters={"stepsize": a, "option": number(3)}),
    "SCAFFOLD with an unknown option": method(
        "Scaffold", "neither 1 nor 2", parameters={"stepsize": a, "option": number(3)}),
    "SCAFFOLD with an option that is no number": method(
        "Scaffold", "option that is no integer", parameters={"stepsize": a, "option": a}),
    "an unknown parameter of a method": method("FedProx", "no parameter of FedProx", parameters={"mu": a, "nu": a}),
    "a missing parameter of a method": method("FedProx", "leave out mu", parameters={}),
    "a text parameter of a method": method("FedSplit", "is unknown", parameters={"stepsize": a, "start": ONE}),
    "μ = 0": method("FedProx", "without proximal term|may be 0", parameters={"mu": ZERO}),
    "μ ≥ 0": method("FedProx", "without proximal term", signs={"a": "nonnegative", "P": "positive", "m": "positive"}),
    "μ < 0": method("FedProx", "does not follow|must not be negative", parameters={"mu": -a}),
    "a real μ": method("FedProx", "does not follow", signs={"a": "real", "P": "positive", "m": "positive"}),
    "α = a − 1": method("FedDyn", "does not follow", parameters={"alpha": a - 1}),
    "a negative stepsize": method("FedSplit", "does not follow|must be positive", parameters={"stepsize": -a}),
    "a stepsize with a pole": method("FedSplit", "may be 0", parameters={"stepsize": 1 / (a - 2)}),
    "no local steps": method("FedGD", "local_steps", parameters={"stepsize": a, "local_steps": ZERO}),
    "a half local step": method("FedGD", "no integer",
        parameters={"stepsize": a, "local_steps": number(Fraction(1, 2))}),
    "a real number of local steps": method("FedGD", "any number of local steps",
        parameters={"stepsize": a, "local_steps": a}),
    "any number of another method's local steps": method("FedNova", "any number of local steps",
        parameters={"stepsize": a, "local_steps": P}),
    "10⁹ local steps": method("FedGD", "too many", parameters={"stepsize": a, "local_steps": BIG}),
    "steps with an error": method("FedGD", "not analysed", answers="error", inexactness=a),
    "inexact steps without proximal term": method("FedGD", "without proximal term", answers="inexact", inexactness=a),
    "solutions without proximal term": method("FedGD", "without proximal term", equal(solutions, answers)),
    "drawn clients are everyone": method("FedProx", "two vectors differ", equal(server(1), mean(answers))),
    "FedProx with the wrong sign": method("FedProx", "two vectors differ",
        equal(a * (answers - server(0)), gradient(answers))),
    "FedDyn: the memory is the old gradient": method("FedDyn", "two vectors differ",
        equal(memory("gradient", 1), gradient(server(0)))),
    "FedDyn: h is the mean of the memories": method("FedDyn", "two vectors differ",
        equal(shared("h", 1), mean(memory("gradient", 1)))),
    "FedDyn: memories are gradients at last answers": method("FedDyn", "two vectors differ",
        equal(memory("gradient", 0), gradient(last_answers(0)))),
    "FedSplit: x is the mean of z": method("FedSplit", "two vectors differ", equal(server(0), mean(memory("z", 0)))),
    "FedProx: one gradient step": method("FedProx", "two vectors differ",
        equal(answers, server(0) - gradient(server(0)) / a)),
    "FedGD: two steps are a long one": method("FedGD", "two vectors differ",
        equal(answers, server(0) - 2 * a * gradient(server(0))),
                                              parameters={"stepsize": a, "local_steps": number(2)}),
}  # fmt: skip


@parametrised(METHOD_ATTACKS)
def test_a_method_that_is_not_analysed_or_does_something_else_is_refused(attack) -> None:
    attack.is_refused()


H = ("shared h", mean(memory("gradient", 0)))
STORED = ("memory gradient", gradient(last_answers(0)))


def invariant(reason: str, *invariants: Any, **more: Any) -> Attack:
    return Attack(reason, drawing("FedDyn", **more), TRUE, POSITIVE, invariants=invariants)


INVARIANTS = {
    "false at the start": invariant("at the start", ("shared h", server(0))),
    "a constant": invariant("at the start", ("shared h", Vector("free", ("x",)))),
    "broken by a round": invariant("breaks", ("shared h", 0 * server(0))),
    "memories of 0": invariant("breaks", ("memory gradient", 0 * server(0))),
    "half the mean": invariant("breaks", ("shared h", mean(memory("gradient", 0)) / 2)),
    "of the round before": invariant("breaks",
        ("memory gradient", gradient(server(0)) - gradient(server(0)))),
    "gradients at last answers, whatever the first": invariant("at the start", STORED),
    "circular": invariant("keeps no", ("shared h", mean(memory("gradient", 0))),
        ("memory gradient", mean(memory("gradient", 0)) + 0 * shared("h", 0))),
    "of itself": invariant("keeps no", ("shared h", shared("h", 0))),
    "of itself, memory": invariant("keeps no", ("memory gradient", memory("gradient", 0))),
    "with time 1": invariant("about the round", ("shared h", server(1))),
    "with answers": invariant("about the round", ("memory gradient", gradient(answers))),
    "with solutions": invariant("about the round", ("memory gradient", solutions - solutions)),
    "with a drawn average": invariant("about the round", ("shared h", Vector("drawn", (memory("gradient", 0),)))),
    "with an expectation": invariant("has an expectation",
        ("shared h", Vector("expected", (mean(memory("gradient", 0)),)))),
    "with a mean of rounds": invariant("no meaning", ("shared h", Vector("mean of rounds", (ONE, server(0))))),
    "of no part of the state": invariant("no part of the state", ("shared foo", server(0))),
    "of the server, false at the start": invariant("at the start", ("server", 0 * server(0))),
    "of the server, with an expectation": invariant("has an expectation",
        ("server", Vector("expected", (server(0),)))),
    "of the server, with time 1": invariant("about the round", ("server", server(1))),
    "of the server, broken": invariant("at the start|breaks", ("server", server(0) + mean(memory("gradient", 0)))),
    "of a wrong sort": invariant("no part of the state", ("memory h", server(0))),
    "of a field of the state": invariant("no part of the state", ("__class__ x", server(0))),
    "given twice": invariant("given twice", H, H),
    "a number": invariant("in the place of a Vector", ("shared h", square(server(0)))),
    "without method": Attack("no part of the state|no method", ClaimSetting(), TRUE, POSITIVE,
        invariants=(("shared h", server(0)),)),
    "a list": Attack("in the place of a tuple", drawing("FedDyn"), TRUE, POSITIVE, invariants=[H]),
    "a text": Attack("in the place of", drawing("FedDyn"), TRUE, POSITIVE, invariants="shared h"),
    "for one client, with means": Attack(
        "claim about one", drawing("FedDyn"), at_most(0, 1, of_client=True), POSITIVE, invariants=(H,)),
    "own minima, for another method's start": Attack(
        "breaks", drawing("Scaffold", starts_at_own_minima=True), TRUE, POSITIVE,
        invariants=(("memory c", gradient(last_answers(0))),)),
    "independent draws": invariant("not known for this draw", H, draws=DrawScheme("independent", P)),
}  # fmt: skip


@parametrised(INVARIANTS)
def test_an_invariant_that_does_not_hold_is_refused(attack) -> None:
    attack.is_refused()


def test_true_invariants_and_methods_nearby_are_accepted() -> None:
    dyn = drawing("FedDyn")
    assert accepted(dyn, equal(shared("h", 1), mean(memory("gradient", 1))), invariants=(H,))
    stored = equal(memory("gradient", 0), gradient(last_answers(0)))
    assert accepted(drawing("FedDyn", starts_at_own_minima=True), stored, invariants=(STORED,))
    assert accepted(drawing("FedDyn", starts_at_own_minima=True),
        equal(shared("h", 0), mean(gradient(last_answers(0)))),
                    invariants=(STORED, H))  # fmt: skip
    assert accepted(drawing("FedProx"), equal(a * (server(0) - answers), gradient(answers)))
    assert accepted(drawing("FedDANE", draws=DrawScheme()), SELF)
    assert accepted(drawing("FedPD", draws=DrawScheme()), SELF)
    anchored = drawing(**running("RegularizedFedSplit", stepsize=a, regularization=a))
    assert accepted(anchored, equal(shared("anchor", 1), shared("anchor", 0)))
    assert accepted(drawing("FedAvg"), equal(server(0), server(0)))  # about the moment before the round alone
