"""Checks certificates of proofs with the standard library alone: python -I standalone_checker.py FILE.json …

A certificate claims left <= right (or <, or =), because right − left, or right² − left² where right >= 0, equals
Σ multiplier · fact + Σ weight · ‖vector‖² with multipliers and weights that are not negative. This program checks the
equation and these signs. It takes for granted, and prints: the facts, the conditions, the signs of symbols, and that
‖a‖ and ⟨a,b⟩ are norms and inner products. Names that could be misread as formulas are printed in quotes.
Signs: each condition is used up by writing a variable as bound + slack or bound / (1 + slack) with slack >= 0; the
expression is then a quotient of polynomials without negative coefficients. Denominators must not vanish.
An expression is an integer, ["/", p, q], a symbol, ["+", …], ["*", …] or ["^", base, integer]. A vector combines basic
vectors of mutually orthogonal kinds: "" (shared by the clients), "~" (a client minus the mean), "*" (a draw minus it).
"""

import json
import sys
from fractions import Fraction
from functools import reduce
from typing import Any, NoReturn

Polynomial = dict[frozenset[Any], int | Fraction]  # {(symbol, power), …}: coefficient; an inverse is a symbol too


def require(condition: bool, problem: str) -> None:
    if not condition:
        raise ValueError(problem)


# ---- what a file may contain: nothing that is read in two ways, or not at all


def is_text(e: Any) -> bool:
    return type(e) is str and e.isprintable() and e == e.strip() != ""


def is_atom(e: Any) -> bool:
    return is_text(e) and not {*e} & {*"⟨⟩‖,"} and not e.endswith("~")


def is_integer(e: Any) -> bool:
    return type(e) is int  # True is none


def is_expression(e: Any) -> bool:
    if type(e) is not list:
        return is_integer(e) or is_text(e)
    if e[:1] == ["/"]:
        return len(e) == 3 and is_integer(e[1]) and is_integer(e[2]) and e[2] > 0
    if e[:1] == ["^"]:
        return len(e) == 3 and is_expression(e[1]) and is_integer(e[2])
    return len(e) > 1 and e[0] in ("+", "*") and all(map(is_expression, e[1:]))


EXPRESSION, TEXT, FLAG = is_expression, is_text, (False, True)
PART = {
    "atom": is_atom, "part": ("", "~", "*"), "scale": EXPRESSION, "draw": str.isprintable, "coefficient": EXPRESSION,
}  # fmt: skip
SUBSTITUTION = {
    "condition": is_integer, "variable": TEXT, "kind": ("lower", "upper"),
    "bound": EXPRESSION, "slack": TEXT, "factor": EXPRESSION,
}  # fmt: skip
PROOF = {
    "kind": ("combination",), "left": EXPRESSION, "relation": ("=", "<=", "<"), "right": EXPRESSION, "squared": FLAG,
    "positive": [TEXT], "nonnegative": [TEXT], "conditions": [{"expression": EXPRESSION, "strict": FLAG}],
    "facts": [{"multiplier": EXPRESSION, "fact": EXPRESSION, "name": TEXT, "equation": FLAG}],
    "squares": [{"weight": EXPRESSION, "vector": [PART]}],
    "signs": [{"expression": EXPRESSION, "form": EXPRESSION, "strictly": FLAG, "substitutions": [SUBSTITUTION]}],
}  # fmt: skip


def fits(e: Any, kind: Any) -> None:
    if isinstance(kind, dict):
        require(type(e) is dict and e.keys() == kind.keys(), f"exactly {', '.join(kind)} are wanted")
        for name in kind:
            fits(e[name], kind[name])
    elif isinstance(kind, list):
        require(type(e) is list, f"{e!r} is no list")
        for part in e:
            fits(part, kind[0])
    elif isinstance(kind, tuple):
        require(any(type(e) is type(one) and e == one for one in kind), f"{e!r} is none of {kind}")
    else:
        require(kind(e), f"{e!r} may not stand where it stands")


def proofs(content: str) -> list[Any]:
    """The proofs in a file: at least one."""

    def unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        require(len(dict(pairs)) == len(pairs), "a key stands twice")
        return dict(pairs)

    def refused(number: str) -> NoReturn:
        raise ValueError(f"{number} is no exact number")

    found = json.loads(content, object_pairs_hook=unique, parse_float=refused, parse_constant=refused)
    fits(found, {"format": ("fedconvex certificate 2",), "step": TEXT, "proof": [PROOF]})
    require(found["proof"] != [], "there is no proof")
    return list(found["proof"])


# ---- polynomials, and quotients of them


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
    """Whether a sum of terms with inverses vanishes: the inverses are multiplied out one after the other."""
    for base in {s for m in p for s, _ in m if not isinstance(s, str)}:
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
    parts = map(value, e[1:]) if e[0] != "^" else [power(value(e[1]), e[2])]
    return reduce(add if e[0] == "+" else multiply, parts, value(int(e[0] != "+")))


def equal(e: Any, f: Any) -> bool:
    return is_zero(value(["+", e, ["*", -1, f]]))


def put_in(e: Any, made: list[tuple[str, Any]]) -> Any:
    for x, new in made:
        e = new if e == x else [e[0], *(put_in(part, [(x, new)]) for part in e[1:])] if isinstance(e, list) else e
    return e


def symbols(e: Any) -> set[str]:
    parts = e[1:] if isinstance(e, list) else []
    return {e} if isinstance(e, str) else set().union(*map(symbols, parts))


def divisors(e: Any) -> list[Any]:
    parts = list(e.values()) if isinstance(e, dict) else e if isinstance(e, list) else []
    return [d for part in parts for d in divisors(part)] + ([e[1]] if parts[:1] == ["^"] and e[2] < 0 else [])


def inner(a: Any, b: Any) -> Any:
    same = (a["part"], a["draw"]) == (b["part"], b["draw"])
    require(a["scale"] == b["scale"] or not same, "one draw has two scales")
    first, second = sorted(part["atom"] + "~" * bool(part["part"]) for part in (a, b))
    both = ["^", f"‖{first}‖", 2] if first == second else f"⟨{first},{second}⟩"
    return ["*", int(same), a["coefficient"], b["coefficient"], a["scale"] if a["part"] == "*" else 1, both]


# ---- signs


def obvious(p: Polynomial, positive: list[str], nonnegative: list[str], strictly: bool) -> bool:
    """Whether no coefficient is negative; strictly: also one term is positive, and no denominator may vanish.

    Without the last condition (1 + x)/(1/x + 1) would count as positive for x >= 0. For an inequality that is not
    strict the limit x -> 0 is enough.
    """
    inverses = {s for m in p for s, _ in m if not isinstance(s, str)}
    signs = all(c > 0 for c in p.values()) and all(obvious(dict(s), positive, nonnegative, strictly) for s in inverses)
    signs = signs and {s for m in p for s, _ in m} <= {*positive, *nonnegative, *inverses}
    defined = all(k > 0 or s in positive for m in p for s, k in m)
    return signs and (not strictly or (defined and any({s for s, _ in m} <= {*positive, *inverses} for m in p)))


def evident(e: Any, positive: list[str], nonnegative: list[str], strictly: bool) -> bool:
    parts = [e, *divisors(e)] if strictly else [e]
    return all(obvious(value(part), positive, nonnegative, strictly) for part in parts)


def check_sign(sign: Any, proof: Any) -> None:
    positive, nonnegative, made = [*proof["positive"]], [*proof["nonnegative"]], list[tuple[str, Any]]()
    require(all(step["condition"] >= 0 for step in sign["substitutions"]), "a condition is counted from the end")
    conditions = [proof["conditions"][step["condition"]] for step in sign["substitutions"]]
    taken = {*positive, *nonnegative} | symbols(["+", sign["expression"], *(c["expression"] for c in conditions)])
    for n, step in enumerate(sign["substitutions"]):
        # The condition must read factor · (x − bound) >= 0 with factor > 0, so that the substitution loses no point.
        x, bound, factor, slack = (step[name] for name in ("variable", "bound", "factor", "slack"))
        lower, left = step["kind"] == "lower", put_in(conditions[n]["expression"], made)
        room = ["*", factor, 1 if lower else -1, ["+", x, ["*", -1, bound]]]
        require(equal(left, room) and evident(factor, positive, nonnegative, True), "no bound, or no factor > 0")
        require(not symbols(bound) & {x, *(before for before, _ in made)}, "a bound speaks of what it replaces")
        taken |= {x} | symbols(bound) | symbols(factor)
        require(slack not in taken, "the slack is not new")
        taken.add(slack)
        # bound / (1 + slack) never is 0: the value x = 0 needs continuity, and no later condition on x.
        later = symbols(["+", *(put_in(c["expression"], made) for c in conditions[n + 1 :])])
        may_be_0 = x in nonnegative and not sign["strictly"] and x not in later
        require(lower or x in positive or may_be_0, "0 is left out")
        made.append((x, ["+", bound, slack] if lower else ["*", bound, ["^", ["+", 1, slack], -1]]))
        (positive if conditions[n]["strict"] else nonnegative).append(slack)
    require(equal(put_in(sign["expression"], made), sign["form"]), "a form is not the expression")
    require(evident(sign["form"], positive, nonnegative, sign["strictly"]), "an expression has another sign")


# ---- proofs


def check(proof: Any) -> None:
    """Raises an error unless the data are a proof of their claim."""
    fits(proof, PROOF)
    left, right, relation, facts, squares = (proof[k] for k in ("left", "right", "relation", "facts", "squares"))
    for sign in proof["signs"]:
        check_sign(sign, proof)

    def shown(e: Any, strictly: bool = False) -> bool:
        known = evident(e, proof["positive"], proof["nonnegative"], strictly)
        return known or any(equal(e, sign["expression"]) and sign["strictly"] >= strictly for sign in proof["signs"])

    require(not proof["squared"] or shown(right), "the right side may be negative")
    rest = ["+", *(["*", sign, ["^", side, 2 if proof["squared"] else 1]] for sign, side in ((1, right), (-1, left)))]
    sums = [["*", fact["multiplier"], fact["fact"]] for fact in facts]
    sums += [["*", s["weight"], inner(a, b)] for s in squares for a in s["vector"] for b in s["vector"]]
    alone = not sums and not proof["squared"] and relation != "=" and shown(rest, relation == "<")
    require(alone or (relation != "<" and equal(rest, ["+", *sums])), "the two sides differ")
    needed = [fact["multiplier"] for fact in facts if not fact["equation"]] + [square["weight"] for square in squares]
    parts = [part for square in squares for part in square["vector"]]
    require(all(part["part"] == "*" or (part["scale"], part["draw"]) == (1, "") for part in parts), "it is not drawn")
    needed += [part["scale"] for part in parts]
    require(all(map(shown, needed)), "a multiplier may be negative")
    require(relation != "=" or not (needed or proof["squared"]), "an inequality gives no equation")
    require(all(shown(d, True) or shown(["*", -1, d], True) for d in divisors([left, right, facts, squares])), "n/0")


# ---- what is shown to the reader


def without_minus(e: Any) -> tuple[Any, bool]:
    """A number's absolute value, and whether it is negative; anything else as it is."""
    if isinstance(e, int):
        return abs(e), e < 0
    return (["/", abs(e[1]), e[2]], e[1] < 0) if e[0] == "/" and isinstance(e, list) else (e, False)


def written(e: Any, place: int = 0) -> str:
    """As a formula; `place` is 0 in a sum, 1 in a product, 3 under an exponent."""
    if isinstance(e, str):
        bars = e[0] + e[-1] in ("‖‖", "⟨⟩") and len(e) > 2 and not {*e[1:-1]} & {*"‖⟨⟩"}
        return e if bars or e.isidentifier() else json.dumps(e, ensure_ascii=False)
    if isinstance(e, int) or e[0] == "/":
        formula, own = (str(e), 3 if e >= 0 else 0) if isinstance(e, int) else (f"{e[1]}/{e[2]}", int(e[1] >= 0))
    elif e[0] == "^":
        formula, own = f"{written(e[1], 3)}^{e[2]}", 2
    elif e[0] == "*":
        first, minus = without_minus(e[1])
        factors = e[2:] if minus and first == 1 and len(e) > 2 else [first, *e[2:]]
        formula, own = "-" * minus + "*".join(written(part, 1) for part in factors), 1 - minus
    else:
        formula, *more = (written(part) for part in e[1:])
        formula, own = formula + "".join(f" - {t[1:]}" if t[0] == "-" else f" + {t}" for t in more), 0
    return f"({formula})" if own < place else formula


def report(proof: Any) -> list[str]:
    """The claim, and everything that it depends on and that this program does not check."""
    granted = []
    for names, relation in ((proof["positive"], ">"), (proof["nonnegative"], ">=")):
        granted += [f"{', '.join(map(written, names))} {relation} 0"] * bool(names)
    for condition in proof["conditions"]:
        granted.append(f"{written(condition['expression'])} {'>' if condition['strict'] else '>='} 0")
    for fact in proof["facts"]:
        granted.append(f"{fact['name']}: {written(fact['fact'])} {'=' if fact['equation'] else '>='} 0")
    vectors = {part["atom"] + "~" * bool(part["part"]) for s in proof["squares"] for part in s["vector"]}
    granted += [f"these are vectors: {'; '.join(sorted(vectors))}"] * bool(vectors)
    claim = f"{written(proof['left'])} {proof['relation']} {written(proof['right'])}"
    return [claim, *(f"  granted: {what}" for what in granted or ["nothing"])]


def main(paths: list[str]) -> int:
    """Prints what each file shows; 0 where there are files, and all of them hold."""
    failed = not paths
    for path in paths:
        name = path if path.isprintable() else repr(path)
        try:
            with open(path, encoding="utf-8") as file:
                found = proofs(file.read())
            for proof in found:
                check(proof)
            print("\n    ".join([f"{name}: holds", *(line for proof in found for line in report(proof))]))
        except Exception as error:  # an unreadable file is no proof either
            failed = True
            print(f"{name}: does not hold: {error!r:.300}")
    return int(failed)


if __name__ == "__main__":
    sys.stdout.reconfigure(errors="backslashreplace")  # type: ignore[union-attr]  # it is no test's stream
    sys.exit(main(sys.argv[1:]) if sys.argv[1:] else "python -I standalone_checker.py FILE.json …: which files?")
