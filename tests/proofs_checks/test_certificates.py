"""The engines' certificates pass the standalone checker, and no certificate with a planted fault does."""

import ast
import importlib.util
import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from copy import deepcopy
from shutil import copyfile
from typing import Any

import pytest
import sympy
from engine_certificates import of_clients, of_values, rich, strict, with_facts, written_to, x, y
from small_certificates import component, fact
from small_certificates import proof as small

from fedconvex.proofs_checks.certificates import CHECKER, written

pytestmark = pytest.mark.beyond_core  # takes a minute

specification = importlib.util.spec_from_file_location("standalone_checker", CHECKER)
checker = importlib.util.module_from_spec(specification)
specification.loader.exec_module(checker)


def holds(proof: Any) -> bool:
    try:
        checker.check(proof)
    except Exception:  # whatever the checker stumbles upon is refused
        return False
    return True


ORIGINALS = {"squares": rich(), "strict": strict(), "facts": with_facts()}


@pytest.mark.parametrize("make", [rich, strict, with_facts, of_values, of_clients])
def test_the_engines_certificates_hold(make: Callable[[], Any]) -> None:
    checker.check(make())


def places(e: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[tuple[Any, ...], Any]]:
    if isinstance(e, dict | list):
        for key, part in e.items() if isinstance(e, dict) else enumerate(e):
            yield (*path, key), part
            yield from places(part, (*path, key))


def changed(proof: Any, path: tuple[Any, ...], new: Any) -> Any:
    proof = deepcopy(proof)
    place = proof
    for key in path[:-1]:
        place = place[key]
    place[path[-1]] = new
    return proof


def at(proof: Any, path: tuple[Any, ...]) -> Any:
    for key in path:
        proof = proof[key]
    return proof


def matters(proof: Any, path: tuple[Any, ...], value: Any) -> bool:
    """Numbers in expressions; not a power of 1, or a claim's whose sign is evident."""
    evident = not proof["facts"] and not proof["squares"] and path[0] == "right"
    if type(value) is not int or "condition" in path or evident:
        return False
    around = at(proof, path[:-1])
    return not (isinstance(around, list) and around[:2] == ["^", 1])


NUMBERS = [(name, path, value) for name, proof in ORIGINALS.items() for path, value in places(proof)
           if matters(proof, path, value)]  # fmt: skip


@pytest.mark.parametrize(("name", "path", "value"), NUMBERS)
def test_a_changed_number_is_noticed(name, path, value) -> None:
    for new in (value + 1, value - 1, 7 * value + 3):
        assert not holds(changed(ORIGINALS[name], path, new)), new


@pytest.mark.parametrize("name", ORIGINALS)
@pytest.mark.parametrize("key", ["facts", "squares", "conditions"])
def test_a_dropped_part_is_noticed(name, key) -> None:
    for number in range(len(ORIGINALS[name][key])):
        rest = [part for n, part in enumerate(ORIGINALS[name][key]) if n != number]
        assert not holds(changed(ORIGINALS[name], (key,), rest)), ORIGINALS[name][key][number]


@pytest.mark.parametrize("name", ORIGINALS)
def test_a_dropped_sign_is_noticed(name) -> None:
    """Unless it is evident from the signs of the symbols."""
    for number, sign in enumerate(ORIGINALS[name]["signs"]):
        rest = [part for n, part in enumerate(ORIGINALS[name]["signs"]) if n != number]
        assert holds(changed(ORIGINALS[name], ("signs",), rest)) is (not sign["substitutions"])


@pytest.mark.parametrize(("name", "key", "symbol"), [
    ("squares", "positive", "p"), ("squares", "positive", "K"), ("squares", "nonnegative", "w"),
    ("strict", "nonnegative", "w"), ("facts", "nonnegative", "w"),
])  # fmt: skip
def test_a_symbol_of_unknown_sign_is_noticed(name, key, symbol) -> None:
    rest = [other for other in ORIGINALS[name][key] if other != symbol]
    assert len(rest) < len(ORIGINALS[name][key])
    assert not holds(changed(ORIGINALS[name], (key,), rest))


def edit(*path: Any, new: Any) -> Callable[[Any], Any]:
    return lambda proof: changed(proof, path, new)


FAULTS: dict[str, tuple[str, Callable[[Any], Any]]] = {
    "another relation": ("squares", edit("relation", new="<")),
    "an equation": ("squares", edit("relation", new="=")),
    "no relation": ("squares", edit("relation", new=">=")),
    "squared": ("squares", edit("squared", new=True)),
    "strictly, at a border": ("strict", lambda p: changed(p, ("signs", 0, "strictly"), False)),
    "an inequality as an equation": ("facts", edit("facts", 0, "equation", new=True) and (
        lambda p: changed(changed(p, ("facts", 0, "multiplier"), ["*", -1, p["facts"][0]["multiplier"]]),
                          ("facts", 0, "equation"), True))),
    "a square in another part": ("squares", lambda p: changed(p, ("squares", 1, "vector"), [
        part | {"part": ""} for part in p["squares"][1]["vector"]])),
    "a draw as a deviation": ("squares", lambda p: changed(p, ("squares", 0, "vector"), [
        part | {"part": "~", "scale": 1} if part["part"] == "*" else part for part in p["squares"][0]["vector"]])),
    "the slack is a symbol that is there": ("squares", lambda p: renamed_slack(p, "y")),
    "a condition that does not hold": ("squares", lambda p: weaker_condition(p)),
    "a kind": ("squares", lambda p: swapped_kind(p)),
    "a form": ("squares", lambda p: changed(p, ("signs", -1, "form"), ["*", -1, p["signs"][-1]["form"]])),
    "an operation": ("squares", lambda p: changed(p, ("left", 0), "-")),
    "a missing key": ("squares", lambda p: {k: v for k, v in p.items() if k != "squared"}),
    "a number as a string": ("squares", edit("squares", 0, "weight", new="1/2")),
    "a float": ("squares", edit("squares", 0, "weight", new=0.5)),
    "a division by 0": ("squares", edit("squares", 0, "weight", new=["^", 0, -1])),
    "no proof": ("squares", lambda p: {}),
}  # fmt: skip


def with_substitution(p: Any) -> int:
    return next(n for n, sign in enumerate(p["signs"]) if sign["substitutions"])


def renamed_slack(p: Any, name: str) -> Any:
    n = with_substitution(p)
    text = json.dumps(p["signs"][n]).replace(json.dumps(p["signs"][n]["substitutions"][0]["slack"]), json.dumps(name))
    return changed(p, ("signs", n), json.loads(text))


def weaker_condition(p: Any) -> Any:
    return changed(p, ("conditions", 0, "expression"), ["+", 1, p["conditions"][0]["expression"]])


def swapped_kind(p: Any) -> Any:
    n = with_substitution(p)
    kind = {"lower": "upper", "upper": "lower"}[p["signs"][n]["substitutions"][0]["kind"]]
    return changed(p, ("signs", n, "substitutions", 0, "kind"), kind)


@pytest.mark.parametrize("fault", FAULTS)
def test_a_planted_fault_is_refused(fault) -> None:
    name, plant = FAULTS[fault]
    assert holds(ORIGINALS[name])
    assert not holds(plant(ORIGINALS[name]))


def sign(expression: Any, *substitutions: Any, form: Any, strictly: bool = False) -> dict[str, Any]:
    return {"expression": expression, "strictly": strictly, "substitutions": [*substitutions], "form": form}


def alone(right: Any, one: dict[str, Any], conditions: list[Any], relation: str = "<=") -> dict[str, Any]:
    return {
        "kind": "combination", "left": 0, "relation": relation, "right": right, "squared": False, "positive": ["p"],
        "nonnegative": ["x", "y", "z"], "conditions": conditions, "facts": [], "squares": [], "signs": [one],
    }  # fmt: skip


def substitution(condition: int, variable: str, kind: str, bound: Any, slack: str, factor: Any) -> dict[str, Any]:
    names = ("condition", "variable", "kind", "bound", "slack", "factor")
    return dict(zip(names, (condition, variable, kind, bound, slack, factor), strict=True))


def minus(*parts: Any) -> Any:
    return ["+", parts[0], *(["*", -1, part] for part in parts[1:])]


def test_a_factor_that_may_vanish_is_refused() -> None:
    """x·y >= x says nothing of y where x = 0."""
    right, condition = minus("y", 1), {"expression": minus(["*", "x", "y"], "x"), "strict": False}
    for factor, expected in (("x", False), ("p", True)):
        condition = {"expression": minus(["*", factor, "y"], factor), "strict": False}
        made = substitution(0, "y", "lower", 1, "s1", factor)
        assert holds(alone(right, sign(right, made, form="s1"), [condition])) is expected


def test_a_variable_that_may_be_0_is_not_written_as_a_quotient_when_a_later_condition_needs_it() -> None:
    """At x = 0 the condition z·x <= 0 leaves z free, so that x − z is negative."""
    conditions = [{"expression": minus("p", "x"), "strict": False},
                  {"expression": ["*", -1, "z", "x"], "strict": False}]  # fmt: skip
    over = ["*", "p", ["^", ["+", 1, "s1"], -1]]
    both = (substitution(0, "x", "upper", "p", "s1", 1), substitution(1, "z", "upper", 0, "s2", over))
    assert not holds(alone(minus("x", "z"), sign(minus("x", "z"), *both, form=over), conditions))
    assert holds(alone(minus("p", "x"), sign(minus("p", "x"), both[0], form=["*", "s1", over]), conditions) | {
        "signs": [sign(minus("p", "x"), both[0], form=["*", "p", "s1", ["^", ["+", 1, "s1"], -1]])]})  # fmt: skip


def test_strictly_only_for_what_is_positive() -> None:
    for symbol, strict_claim, expected in (("p", True, True), ("x", True, False), ("x", False, True)):
        one = sign(symbol, form=symbol, strictly=strict_claim)
        assert holds(alone(symbol, one, [], "<" if strict_claim else "<=")) is expected
    assert not holds(alone("p", sign("p", form="p"), [], "<") | {"signs": [], "positive": [], "nonnegative": ["p"]})
    assert not holds(alone("r", sign("r", form="r"), []))


def test_strictly_only_inside() -> None:
    """x <= 1 does not make x positive, nor x >= 1 make x − 1 positive."""
    over = ["^", ["+", 1, "s1"], -1]
    for strictly in (True, False):
        below, above = ({"expression": e, "strict": strictly} for e in (minus(1, "x"), minus("x", 1)))
        one = sign("x", substitution(0, "x", "upper", 1, "s1", 1), form=over, strictly=True)
        assert not holds(alone("x", one, [below], "<"))
        one = sign(minus("x", 1), substitution(0, "x", "lower", 1, "s1", 1), form="s1", strictly=True)
        assert holds(alone(minus("x", 1), one, [above], "<")) is strictly


def test_a_form_divided_by_0_is_everything_and_nothing() -> None:
    for form in (["^", 0, -1], ["*", "p", ["^", minus("x", "x"), -1]]):
        assert not holds(alone(minus("x", "y"), sign(minus("x", "y"), form=form), []))


def test_roots_of_squares_may_be_negative() -> None:
    """‖b‖² <= p²‖a‖² shows ‖b‖ <= p‖a‖, and not ‖b‖ <= −p‖a‖."""
    bounded = ["+", ["*", ["^", "p", 2], ["^", "‖a‖", 2]], ["*", -1, ["^", "‖b‖", 2]]]
    proof = small(left="‖b‖", right=["*", "p", "‖a‖"], squared=True, positive=["p"], nonnegative=["‖a‖", "‖b‖"],
                  facts=[fact(bounded)])  # fmt: skip
    assert holds(proof)
    assert not holds(changed(proof, ("right",), ["*", -1, proof["right"]]))
    assert not holds(changed(proof, ("squared",), False))


def test_the_scale_of_a_draw_is_not_negative() -> None:
    part = component("u", part="*")
    proof = alone(0, sign("p", form="p"), []) | {"nonnegative": ["‖u~‖"], "signs": []}
    for scale, left, expected in (("p", ["*", -1, "p", ["^", "‖u~‖", 2]], True), (-1, ["^", "‖u~‖", 2], False)):
        square_of = {"weight": 1, "vector": [part | {"scale": scale}]}
        assert holds(proof | {"left": left, "squares": [square_of]}) is expected


def test_the_program(tmp_path) -> None:
    written_to(tmp_path / "good.json", rich())
    written_to(tmp_path / "bad.json", edit("relation", new="=")(rich()))
    copyfile(CHECKER, tmp_path / CHECKER.name)
    (tmp_path / "torn.json").write_text('{"format": "fedconvex certificate 2", "proof": [', "utf-8")
    (tmp_path / "old.json").write_text('{"format": "fedconvex certificate 1", "proof": []}', "utf-8")
    copy = tmp_path / CHECKER.name
    for options in ([], ["-O"]):

        def run(*names: str, options: list[str] = options) -> Any:
            command = [sys.executable, "-I", "-S", *options, str(copy), *(str(tmp_path / name) for name in names)]
            return subprocess.run(command, capture_output=True, text=True, check=False)

        assert run("good.json").returncode == 0
        assert "good.json: holds\n" in run("good.json").stdout
        assert "granted: 1 - w >= 0\n" in run("good.json").stdout
        for name in ("bad.json", "torn.json", "old.json", "missing.json"):
            done = run("good.json", name)
            assert done.returncode == 1
            assert f"{name}: does not hold" in done.stdout
            assert "good.json: holds" in done.stdout


def test_the_facts_that_are_granted_are_shown() -> None:
    granted = {"the answers are γ-inexact: ", "the definition of x: x - ‖a‖^2 = 0"}
    assert all(any(what in line for line in checker.report(with_facts())) for what in granted)


def test_the_checker_is_short_and_stands_alone() -> None:
    source = CHECKER.read_text("utf-8")
    assert len(source.splitlines()) <= 310
    tree = ast.parse(source)
    imported = {alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names}
    imported |= {node.module for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    assert imported <= sys.stdlib_module_names
    assert not any(isinstance(node, ast.Assert) for node in ast.walk(tree))


@pytest.mark.parametrize("wrong", [sympy.sqrt(x), sympy.Max(x, y), sympy.pi, x**y])
def test_what_cannot_be_written(wrong) -> None:
    with pytest.raises(ValueError, match="no rational function"):
        written(wrong)
