"""Settings, claims and proofs as JSON, and back: nothing in a file is run, and everything in it is checked.

A term is a list, ["inner", u, v]; a fraction is a text, "2/3"; every other object has its kind and its fields by name.
"""

import json
import re
from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from fedconvex.claims.claim import Claim, ClaimSetting
from fedconvex.claims.terms import NUMBERS, VECTORS, Number, Vector
from fedconvex.errors import InvalidInput
from fedconvex.proofs_checks.kernel import proofs
from fedconvex.proofs_checks.kernel.reading import CLASSES, HINTS

KINDS: Mapping[str, type] = {kind.__name__: kind for kind in CLASSES}
LONGEST = 1_000_000  # characters of a file
DEEPEST = 500  # terms inside terms
MOST_DIGITS = 500  # of an integer
FRACTION = re.compile(
    rf"-?[0-9]{{1,{MOST_DIGITS}}}(/[0-9]{{1,{MOST_DIGITS}}})?"
)  # no exponents: "1e999999999" is short
SORTS = {"N": (Number, NUMBERS), "V": (Vector, VECTORS)}


def to_json(setting: ClaimSetting, claim: Claim, proof: proofs.Derivation) -> str:
    """The text of a file that says what is claimed and how it is proved."""
    return json.dumps({"setting": _plain(setting), "claim": _plain(claim), "proof": _plain(proof)}, ensure_ascii=False)


def from_json(text: str) -> tuple[ClaimSetting, Claim, proofs.Derivation]:
    """The setting, claim and proof of such a text. Raises InvalidInput where it is not well formed."""
    if type(text) is not str:
        raise InvalidInput("file", type(text).__name__, "is no text", "decode it as UTF-8 first")
    if len(text) > LONGEST:
        raise InvalidInput("file", f"{len(text)} characters", "is too long for a proof", f"give at most {LONGEST}")
    try:
        whole = json.loads(
            text, parse_float=_no_float, parse_constant=_no_float, parse_int=_integer, object_pairs_hook=_once
        )
        if type(whole) is not dict or set(whole) != {"setting", "claim", "proof"}:
            raise InvalidInput("file", "its first level", "is no proof", 'give "setting", "claim" and "proof"')
        made = [_object(whole[name], kind) for name, kind in (("setting", ClaimSetting), ("claim", Claim),
                                                              ("proof", proofs.Derivation))]  # fmt: skip
    except InvalidInput:
        raise
    except Exception as error:  # what JSON, the classes or Python itself refuse
        reason = "it is nested too deeply" if isinstance(error, RecursionError) else str(error)
        raise InvalidInput("file", text[:20], f"is no proof: {reason}", "write it with to_json") from None
    return made[0], made[1], made[2]


def _no_float(text: str) -> Any:
    raise InvalidInput("file", text, "is no exact number", 'write fractions as texts, "2/3"')


def _integer(text: str) -> int:
    if len(text) > MOST_DIGITS:
        raise InvalidInput("file", text[:20], f"has {len(text)} digits", f"give at most {MOST_DIGITS}")
    return int(text)


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """The object; a field that is given twice could be read in two ways."""
    found = dict(pairs)
    if len(found) < len(pairs):
        raise InvalidInput("file", [name[:20] for name in found][:10], "has a field twice", "give every field once")
    return found


def _plain(value: Any) -> Any:
    match value:
        case Number() | Vector():
            return ["N" if type(value) is Number else "V", value.head, *map(_plain, value.args)]
        case Fraction():
            return {"kind": "fraction", "is": str(value)}
        case tuple():
            return {"kind": "tuple", "of": [_plain(x) for x in value]}
        case frozenset():
            return {"kind": "set", "of": sorted(value)}
        case dict():
            return {"kind": "map", "of": {name: _plain(x) for name, x in value.items()}}
        case None | str() | bool() | int():
            return value
    return {"kind": type(value).__name__, **{name: _plain(getattr(value, name)) for name in HINTS[type(value)]}}


def _object(data: Any, wanted: type) -> Any:
    made = _value(data, 0)
    if type(made) is not wanted:
        raise InvalidInput(
            "file",
            type(made).__name__,
            f"is given where a {wanted.__name__} is expected",
            f"write a {wanted.__name__} there",
        )
    return made


def _value(data: Any, depth: int) -> Any:
    if depth > DEEPEST:
        raise InvalidInput("file", f"depth {depth}", "is nested too deeply", f"give at most {DEEPEST} levels")
    match data:
        case None | str() | bool() | int():
            return data
        case [("N" | "V") as sort, str() as head, *args]:
            kind, heads = SORTS[sort]
            if head not in heads:
                raise InvalidInput("file", head, "is no operation of terms", f"give one of {', '.join(heads)}")
            return kind(head, tuple(_value(a, depth + 1) for a in args))
        case {"kind": "fraction", "is": str() as text, **rest} if not rest and FRACTION.fullmatch(text):
            return Fraction(text)
        case {"kind": "tuple", "of": list() as parts, **rest} if not rest:
            return tuple(_value(x, depth + 1) for x in parts)
        case {"kind": "set", "of": list() as parts, **rest} if not rest and all(type(x) is str for x in parts):
            return frozenset(parts)
        case {"kind": "map", "of": dict() as entries, **rest} if not rest:
            return {name: _value(x, depth + 1) for name, x in entries.items()}
        case {"kind": str() as name, **given} if name in KINDS:
            known = HINTS[KINDS[name]].keys()
            if unknown := sorted(set(map(str, given)) - known)[:10]:
                raise InvalidInput("file", unknown, f"are no fields of {name}", f"give {sorted(known)}")
            return KINDS[name](**{str(field): _value(x, depth + 1) for field, x in given.items()})
    raise InvalidInput("file", str(data)[:60], "is no part of a proof", "write it with to_json")
