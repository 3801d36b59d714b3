"""Proofs as JSON: what is written comes back and is proved again; a text of whoever it may be breaks nothing."""

import json
from fractions import Fraction
from typing import Any

import pytest
from counted_calls import at_most_calls

from fedconvex.claims.claim import Claim, ClaimSetting
from fedconvex.claims.terms import Number, Vector
from fedconvex.errors import InvalidInput
from fedconvex.proofs_checks import feddyn, fedprox, fedsplit  # noqa: F401 # registers the proofs
from fedconvex.proofs_checks.claims import builder_of, derivation_of
from fedconvex.proofs_checks.export.json_proofs import from_json, to_json
from fedconvex.proofs_checks.kernel import Refused, Theorem, theorem
from fedconvex.proofs_checks.kernel.proofs import Cases, Derivation, Nonnegative
from fedconvex.theory import papers
from fedconvex.theory import statement as statement_of
from tests.proofs_checks.kernel.attacks import ONE, ZERO, a, one_line, some

PAPERS = ("feddyn", "fedprox", "fedsplit")
EVERY = sorted(s.identifier for name in PAPERS for s in papers()[name].everything if builder_of(s))
SOME = EVERY[::5]
MOST_CALLS = 200_000  # of functions, for a hostile text


def text_of(identifier: str) -> str:
    statement = statement_of(identifier)
    return to_json(statement.setting, statement.claim, derivation_of(statement))


def known(identifier: str) -> tuple[ClaimSetting, Claim, Derivation]:
    """Other statements come as texts as well."""
    return from_json(text_of(identifier))


def comes_back(identifier: str) -> bool:
    statement = statement_of(identifier)
    back = from_json(text_of(identifier))
    assert back == (statement.setting, statement.claim, derivation_of(statement))
    return theorem(*back, known) == Theorem(statement.setting, statement.claim)


@pytest.mark.sample(11)
@pytest.mark.parametrize("identifier", SOME)
def test_a_proof_comes_back_and_is_proved(identifier: str) -> None:
    assert comes_back(identifier)


def test_the_sample_has_proofs_of_every_paper() -> None:
    assert len(SOME) >= 15
    assert {name.partition(".")[0] for name in SOME} == set(PAPERS)


def test_a_proof_by_cases_comes_back() -> None:
    claim = Claim(ZERO, "<=", ONE)
    step = one_line(claim, ((1, Nonnegative(ONE)),))
    given = (some("a"), claim, Derivation(cases=Cases(a, ONE, step, step)))
    assert from_json(to_json(*given)) == given
    assert theorem(*from_json(to_json(*given)))


# ---- hostile texts

PLAIN: dict[str, Any] = json.loads(text_of("fedprox.equation3"))
WHOLE = json.dumps(PLAIN)
TERM = ["N", "constant", {"kind": "fraction", "is": "1"}]


def with_claim(left: Any, right: Any = None, **more: Any) -> str:
    claim = {"kind": "Claim", "left": left, "relation": "<=", "right": TERM if right is None else right}
    return json.dumps({**PLAIN, "claim": {**claim, **more}})


def with_setting(**fields: Any) -> str:
    return json.dumps({**PLAIN, "setting": {**PLAIN["setting"], **fields}})


def with_proof(**fields: Any) -> str:
    return json.dumps({**PLAIN, "proof": {**PLAIN["proof"], **fields}})


def constant(text: Any) -> Any:
    return ["N", "constant", {"kind": "fraction", "is": text}]


def of(kind: str, what: Any) -> dict[str, Any]:
    return {"kind": kind, "of": what}


def nested(times: int) -> Any:
    term: Any = TERM
    for _ in range(times):
        term = ["N", "neg", term]
    return term


def cases(times: int) -> Any:
    """Cases inside cases."""
    proof: Any = PLAIN["proof"]
    for _ in range(times):
        proof = {
            "kind": "Derivation",
            "cases": {"kind": "Cases", "more": TERM, "less": TERM, "above": proof, "below": PLAIN["proof"]},
        }
    return proof  # fmt: skip


HOSTILE: dict[str, str] = {
    # no JSON
    "nothing": "",
    "prose": "the claim is obvious",
    "half": WHOLE[: len(WHOLE) // 2],
    "more behind it": WHOLE + "{}",
    "a byte order mark": "\ufeff" + WHOLE,
    "Python": repr(PLAIN),
    # the top level
    "a list": "[]",
    "a number": "1",
    "null": "null",
    "an empty object": "{}",
    "no proof": json.dumps({k: v for k, v in PLAIN.items() if k != "proof"}),
    "one more part": json.dumps({**PLAIN, "axioms": []}),
    "setting and claim swapped": json.dumps({**PLAIN, "setting": PLAIN["claim"], "claim": PLAIN["setting"]}),
    "a line for a proof": json.dumps({**PLAIN, "proof": PLAIN["proof"]["lines"]["of"][0]}),
    "a term for a claim": json.dumps({**PLAIN, "claim": TERM}),
    "null for a proof": json.dumps({**PLAIN, "proof": None}),
    # numbers
    "a float": with_claim(["N", "constant", 0.5]),
    "NaN": with_claim(["N", "constant", float("nan")]),
    "infinity": with_claim(["N", "constant", float("inf")]),
    "minus infinity": with_setting(rests=float("-inf")),
    "an integer for a constant": with_claim(["N", "constant", 1]),
    "a fraction with denominator 0": with_claim(constant("1/0")),
    "a fraction with an exponent": with_claim(constant("1e999999999")),
    "a fraction with a negative exponent": with_claim(constant("1e-999999999")),
    "a decimal": with_claim(constant("0.5")),
    "a fraction with underscores": with_claim(constant("1_0")),
    "digits of another script": with_claim(constant("١")),
    "a fraction with spaces": with_claim(constant(" 1 ")),
    "a fraction that is no text": with_claim(constant(1)),
    "a fraction of many digits": with_claim(constant("9" * 10**6)),
    "a fraction of 400 digits": with_claim(constant("9" * 400)),
    "an integer of a million digits": WHOLE.replace("null", "9" * 10**6, 1),
    "an integer of 4000 digits": WHOLE.replace("null", "9" * 4000, 1),
    "a time of 400 digits": with_claim(["N", "norm", ["V", "server", 10**400]]),
    # truth values for integers, integers for truth values
    "true for a time": with_claim(["N", "norm", ["V", "server", True]]),
    "false for a time": with_claim(["N", "norm", ["V", "server", False]]),
    "true for a constant": with_claim(["N", "constant", True]),
    "1 for rests": with_setting(rests=1),
    "0 for minimiser": with_setting(minimiser=0),
    "1 for of_client": with_claim(TERM, of_client=1),
    "true for a sign": with_proof(
        lines=of("tuple", [{**PLAIN["proof"]["lines"]["of"][0], "facts": of("tuple", [of("tuple", [
            TERM, {"kind": "CauchySchwarz", "u": ["V", "server", 0], "v": ["V", "server", 0], "sign": True}])])}])),
    # terms
    "an unknown operation": with_claim(["N", "eval", "1"]),
    "a vector's operation for a number": with_claim(["N", "server", 0]),
    "an unknown sort": with_claim(["W", "constant", TERM]),
    "a vector for a number": with_claim(["V", "server", 0]),
    "too few operands": with_claim(["N", "+", TERM]),
    "too many operands": with_claim(["N", "neg", TERM, TERM]),
    "operands of another sort": with_claim(["N", "inner", TERM, TERM]),
    "an empty list": with_claim([]),
    "a head that is no text": with_claim(["N", ["constant"], "1"]),
    "an unknown parameter": with_claim(["N", "parameter", "unknown"]),
    "a parameter without name": with_claim(["N", "parameter", None]),
    "half a character": with_claim(["N", "parameter", "\ud800"]),
    # fields and kinds
    "an unknown field": with_proof(axioms=of("tuple", [])),
    "many unknown fields": with_proof(**{f"x{k}": 0 for k in range(10**5)}),
    "a private field": with_setting(__class__="Claim"),
    "a missing field": json.dumps({**PLAIN, "claim": {"kind": "Claim", "left": TERM}}),
    "an unknown kind": with_proof(lines=of("tuple", [{"kind": "Believe", "left": TERM, "right": TERM}])),
    "a class that is no part of a proof": with_proof(lines=of("tuple", [{"kind": "Theorem"}])),
    "a fraction for lines": with_proof(lines={"kind": "fraction", "is": "1"}),
    "no kind": with_proof(lines={"of": []}),
    "a kind that is no text": with_proof(lines={"kind": ["tuple"], "of": []}),
    "a tuple with more": with_proof(lines={"kind": "tuple", "of": [], "more": 1}),
    "a list for a tuple": with_proof(lines=[]),
    "no lines": with_proof(lines=of("tuple", [])),
    "a set for lines": with_proof(lines=of("set", [])),
    "a map for lines": with_proof(lines=of("map", {})),
    "a set of numbers": with_setting(counts=of("set", [1])),
    "signs that are a text": with_setting(signs="positive"),
    "signs that are none": with_setting(signs=None),
    "an unknown sign": with_setting(signs=of("map", {"mu": "large"})),
    "conditions that are a number": with_setting(conditions=7),
    "a condition of two parts": with_setting(conditions=of("tuple", [of("tuple", [TERM, TERM])])),
    "a condition with an unknown relation": with_setting(conditions=of("tuple", [of("tuple", [TERM, "!=", TERM])])),
    "an unknown method": with_setting(method="FedMagic"),
    "another module's method": with_setting(method="__init__"),
    "draws that are none": with_setting(draws=None),
    "a scheme that is a list": with_setting(draws={"kind": "DrawScheme", "scheme": of("tuple", [])}),
    "an example outside": with_setting(example=of("map", {})),
    "a line for a fact": with_proof(lines=of("tuple", [{**PLAIN["proof"]["lines"]["of"][0], "facts": of(
        "tuple", [of("tuple", [TERM, PLAIN["proof"]["lines"]["of"][0]])])}])),
    # depth and length
    "100000 brackets": "[" * 10**5,
    "100000 closed brackets": "[" * 10**5 + "]" * 10**5,
    "100000 objects": '{"a":' * 10**5,
    "900 brackets": "[" * 900 + "]" * 900,
    "900 brackets for a term": with_claim(json.loads("[" * 900 + "]" * 900)),
    "900 terms inside terms": with_claim(nested(400), nested(450)),
    "tuples inside tuples": WHOLE.replace("null", '{"kind": "tuple", "of": [' * 600 + "]}" * 600, 1),
    "300 cases inside cases": json.dumps({**PLAIN, "proof": cases(300)}),
    "300000 brackets": "[" + "[]," * 300_000 + "[]]",
    "too many characters": " " * 1_000_001,
    # twice
    "a claim twice": WHOLE[:-1] + ', "claim": ' + json.dumps(PLAIN["claim"]) + "}",
    "a kind twice": WHOLE.replace('"kind": "Claim"', '"kind": "Claim", "kind": "Claim"'),
    "a sign twice": WHOLE.replace('"signs": {"kind": "map", "of": {', '"signs": {"kind": "map", "of": {"mu": "real", '),
}  # fmt: skip


@pytest.mark.sample(31)
@pytest.mark.parametrize("text", HOSTILE.values(), ids=list(HOSTILE))
def test_a_hostile_text_is_refused_at_once(text: str) -> None:
    assert text != WHOLE
    with at_most_calls(MOST_CALLS), pytest.raises((InvalidInput, Refused)) as refusal:
        theorem(*from_json(text))
    assert len(str(refusal.value)) < 2000


def test_more_calls_are_noticed() -> None:
    with pytest.raises(AssertionError, match="calls, at most 1,000 expected"), at_most_calls(1_000):
        theorem(*from_json(WHOLE))


def test_the_text_that_they_change_is_proved() -> None:
    assert theorem(*from_json(WHOLE))


@pytest.mark.parametrize("given", [WHOLE.encode(), None, 1, PLAIN, type("Text", (str,), {})(WHOLE)], ids=type)
def test_what_is_no_text_is_refused(given: Any) -> None:
    with pytest.raises(InvalidInput):
        from_json(given)


@pytest.mark.beyond_core  # takes seconds
@pytest.mark.parametrize("other", [name for name in SOME if name != "fedprox.theorem11"])
def test_another_statements_proof_proves_nothing(other: str) -> None:
    mixed = {**json.loads(text_of("fedprox.theorem11")), "proof": json.loads(text_of(other))["proof"]}
    with pytest.raises(Refused):
        theorem(*from_json(json.dumps(mixed)), known)


def test_all_that_is_read_has_exact_types() -> None:
    """No text makes an object of a class that could answer differently when it is asked twice."""
    waiting: list[Any] = list(from_json(text_of("feddyn.theorem3")))
    found = set()
    while waiting:
        here = waiting.pop()
        found.add(type(here))
        if type(here) in (tuple, frozenset):
            waiting += here
        elif type(here) is dict:
            waiting += [*here, *here.values()]
        elif type(here) not in (str, int, bool, type(None), Fraction):
            waiting += vars(here).values()
    names = {kind.__module__ for kind in found}
    assert {Number, Vector, Claim, ClaimSetting, Derivation} <= found
    assert names == {"builtins", "fractions", "fedconvex.claims.claim", "fedconvex.claims.terms",
                     "fedconvex.proofs_checks.kernel.proofs"}  # fmt: skip
