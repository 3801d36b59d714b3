"""Checks certificates again, with the standard library alone: python standalone_checker.py FILE.json …

A certificate says left <= right (or <, or =), because right − left, or right² − left² where right >= 0, is the sum of
multiplier · fact and weight · ‖vector‖². The facts (by name), symbols' signs and conditions are what the reader grants.
Multipliers and weights are not negative: with conditions used up, by writing a variable as bound + slack, or as
bound / (1 + slack), they are quotients of polynomials without negative coefficients. So is what is divided by, not 0.
An expression is an integer, ["/", p, q], a symbol, ["+", …], ["*", …] or ["^", base, integer]. A vector's parts of
different kinds are orthogonal, and so is what two draws ("*") add to the mean.
"""

import json
import sys
from fractions import Fraction
from functools import reduce
from typing import Any

Polynomial = dict[frozenset[Any], int | Fraction]  # {(symbol, power), …}: coefficient; an inverse is a symbol too


def require(condition: bool, problem: str) -> None:
    if not condition:
        raise ValueError(problem)


def add(p: Polynomial, q: Polynomial) -> Polynomial:
    return {m: c for m in {**p, **q} if (c := p.get(m, 0) + q.get(m, 0))}


def multiply(p: Polynomial, q: Polynomial) -> Polynomial:
    total: Polynomial = {}
    for powers, c, n, d in ((dict(m), c, n, d) for m, c in p.items() for n, d in q.items()):
        powers |= {s: powers.get(s, 0) + k for s, k in n}
        key = frozenset(power for power in powers.items() if power[1])
        total[key] = total.get(key, 0) + c * d
    return add(total, {})


def power(p: Polynomial, n: int) -> Polynomial:
    if n < 0:
        require(not is_zero(p), "a division by zero")
        monomial: Polynomial = {frozenset((s, -k) for s, k in m): Fraction(1) / c for m, c in p.items()}
        return power(monomial if len(p) == 1 else {frozenset({(frozenset(p.items()), 1)}): 1}, -n)
    return multiply(p, power(p, n - 1)) if n else value(1)


def is_zero(p: Polynomial) -> bool:
    for base in {s for m in p for s, _ in m if not isinstance(s, str)}:  # one after the other is multiplied out
        by_power: dict[int, Polynomial] = {}
        for m, c in p.items():
            by_power.setdefault(dict(m).get(base, 0), {})[frozenset(part for part in m if part[0] != base)] = c
        lifted = (multiply(q, power(dict(base), max(by_power) - k)) for k, q in by_power.items())
        return is_zero(reduce(add, lifted, Polynomial()))
    return not p


def value(e: Any) -> Polynomial:
    if isinstance(e, str):
        return {frozenset({(e, 1)}): 1}
    if isinstance(e, int) or e[0] == "/":
        return add({frozenset(): e if isinstance(e, int) else Fraction(e[1], e[2])}, {})
    require(e[0] in ("+", "*", "^"), f"the operation {e[0]} is unknown")
    parts = map(value, e[1:]) if e[0] != "^" else [power(value(e[1]), e[2])]
    return reduce(add if e[0] == "+" else multiply, parts, value(int(e[0] != "+")))


def equal(e: Any, f: Any) -> bool:
    return is_zero(value(["+", e, ["*", -1, f]]))


def put_in(e: Any, made: list[tuple[str, Any]]) -> Any:
    for x, new in made:
        e = new if e == x else [e[0], *(put_in(part, [(x, new)]) for part in e[1:])] if isinstance(e, list) else e
    return e


def divisors(e: Any) -> list[Any]:
    parts = list(e.values()) if isinstance(e, dict) else e if isinstance(e, list) else []
    return [d for part in parts for d in divisors(part)] + ([e[1]] if parts[:1] == ["^"] and e[2] < 0 else [])


def inner(a: Any, b: Any) -> Any:
    same = (a["part"], a["draw"]) == (b["part"], b["draw"])
    require(a["scale"] == b["scale"] or not same, "one draw has two scales")
    first, second = sorted(part["atom"] + "~" * bool(part["part"]) for part in (a, b))
    both = ["^", f"‖{first}‖", 2] if first == second else f"⟨{first},{second}⟩"
    return ["*", int(same), a["coefficient"], b["coefficient"], a["scale"] if a["part"] == "*" else 1, both]


def obvious(p: Polynomial, positive: list[str], nonnegative: list[str], strictly: bool) -> bool:
    inverses = {s for m in p for s, _ in m if not isinstance(s, str)}
    signs = all(c > 0 for c in p.values()) and all(obvious(dict(s), positive, nonnegative, False) for s in inverses)
    signs = signs and {s for m in p for s, _ in m} <= {*positive, *nonnegative, *inverses}
    return signs and (not strictly or any({s for s, _ in m} <= {*positive, *inverses} for m in p))


def check_sign(sign: Any, proof: Any) -> Any:
    positive, nonnegative, made = [*proof["positive"]], [*proof["nonnegative"]], list[tuple[str, Any]]()
    conditions = [proof["conditions"][step["condition"]] for step in sign["substitutions"]]
    for n, step in enumerate(sign["substitutions"]):
        x, bound, factor, slack = (step[name] for name in ("variable", "bound", "factor", "slack"))
        lower, left = step["kind"] == "lower", put_in(conditions[n]["expression"], made)
        room = ["*", factor, 1 if lower else -1, ["+", x, ["*", -1, bound]]]
        require(equal(left, room) and obvious(value(factor), positive, nonnegative, True), "no bound, or no factor > 0")
        require(json.dumps(slack) not in json.dumps([sign["expression"], conditions, made]), "the slack is not new")
        later = json.dumps([put_in(condition["expression"], made) for condition in conditions[n + 1 :]])
        may_be_0 = x in nonnegative and not sign["strictly"] and json.dumps(x) not in later
        require(lower or x in positive or may_be_0, "0 is left out")
        made.append((x, ["+", bound, slack] if lower else ["*", bound, ["^", ["+", 1, slack], -1]]))
        (positive if conditions[n]["strict"] else nonnegative).append(slack)
    require(equal(put_in(sign["expression"], made), sign["form"]), "a form is not the expression")
    require(obvious(value(sign["form"]), positive, nonnegative, sign["strictly"]), "an expression has another sign")
    return sign


def check(proof: Any) -> set[str]:
    """The names of the facts that are granted; raises an error where the proof is none."""
    left, right, relation, facts, squares = (proof[k] for k in ("left", "right", "relation", "facts", "squares"))
    signs = [check_sign(sign, proof) for sign in proof["signs"]]

    def shown(e: Any, strictly: bool = False) -> bool:
        known = obvious(value(e), proof["positive"], proof["nonnegative"], strictly)
        return known or any(equal(e, sign["expression"]) and sign["strictly"] >= strictly for sign in signs)

    require(relation in ("=", "<=", "<") and (not proof["squared"] or shown(right)), "the right side may be negative")
    rest = ["+", *(["*", sign, ["^", side, 1 + proof["squared"]]] for sign, side in ((1, right), (-1, left)))]
    sums = [["*", fact["multiplier"], fact["fact"]] for fact in facts]
    sums += [["*", s["weight"], inner(a, b)] for s in squares for a in s["vector"] for b in s["vector"]]
    alone = not sums and not proof["squared"] and relation != "=" and shown(rest, relation == "<")
    require(alone or (relation != "<" and equal(rest, ["+", *sums])), "the two sides differ")
    needed = [fact["multiplier"] for fact in facts if not fact["equation"]] + [square["weight"] for square in squares]
    needed += [part["scale"] for square in squares for part in square["vector"]]
    require(all(map(shown, needed)), "a multiplier may be negative")
    require(relation != "=" or not (needed or proof["squared"]), "an inequality gives no equation")
    require(all(shown(d, True) or shown(["*", -1, d], True) for d in divisors([left, right, facts, squares])), "n/0")
    return {fact["name"] for fact in facts}


if __name__ == "__main__":
    failed = False
    for path in sys.argv[1:]:
        try:
            with open(path, encoding="utf-8") as file:
                content = json.load(file)
            require(content["format"] == "fedconvex certificate 2", "the format is another one")
            names = sorted({name for part in content["proof"] for name in check(part)})
            print(f"{path}: holds; granted: {'; '.join(names) or 'nothing'}")
        except Exception as error:  # a file that cannot be read proves nothing either
            failed = True
            print(f"{path}: does not hold: {error!r}")
    sys.exit(failed)
