"""Names that a caller misspelt: the nearest known one, for the error that refuses the name."""

from collections.abc import Callable, Iterable, Mapping
from functools import wraps
from inspect import Parameter, Signature, signature
from typing import Any, ParamSpec, Self, TypeVar

from fedconvex.errors import UnknownKeyword, short_text

P = ParamSpec("P")
R = TypeVar("R")
SIMILAR = 0.6  # the least similarity, in [0, 1], of a name that is suggested
LETTERS = 3  # shorter names are suggested for what is equal but for capitals alone
WITH_NAMES = (Parameter.POSITIONAL_OR_KEYWORD, Parameter.KEYWORD_ONLY)


def nearest(name: object, known: Iterable[str], count: int = 1) -> list[str]:
    """The known names most similar to this one, at most `count`; capitals, hyphens and underscores count for nothing.

    >>> nearest("Lminus", ["L", "mu", "L_minus"])
    ['L_minus']
    """
    from difflib import get_close_matches

    plain: dict[str, list[str]] = {}
    for other in known:
        plain.setdefault(_plain(other), []).append(other)
    wanted = _plain(name[:100] if isinstance(name, str) else short_text(name))
    if len(wanted) < LETTERS:  # every letter resembles every other
        return plain.get(wanted, [])[:count]
    found = [other for near in get_close_matches(wanted, plain, n=count, cutoff=SIMILAR) for other in plain[near]]
    return found[:count]


def suggestion(name: object, known: Iterable[str]) -> str:
    """`did you mean L_minus? `, to stand before the cure of an error; "" where no known name is similar."""
    near = nearest(name, known)
    return f"did you mean {near[0]}? " if near else ""


def one_of(name: object, known: Iterable[str]) -> str:
    """The cure of a name that is none of the known ones: the nearest, and all of them."""
    names = list(known)
    return f"{suggestion(name, names)}give one of {', '.join(names)}"


def unknown_attribute(module: str, name: str, known: Iterable[str]) -> AttributeError:
    """The error of a module's `__getattr__`, in Python's own words, with the nearest name."""
    # Python asks for names such as `__path__` by itself
    near = [] if name.startswith("_") else nearest(name, known)
    guess = f"; did you mean {near[0]}?" if near else ""
    return AttributeError(f"module {module!r} has no attribute {name!r}{guess}")


def require_keywords(owner: str, given: Mapping[str, Any], signature: Signature) -> None:
    """Raises UnknownKeyword for the first keyword that is no parameter in the signature, with the nearest that is."""
    parameters = signature.parameters
    open_ended = any(parameter.kind is Parameter.VAR_KEYWORD for parameter in parameters.values())
    if open_ended or given.keys() <= parameters.keys():
        return
    known = [name for name, parameter in parameters.items() if parameter.kind in WITH_NAMES]
    for name, value in given.items():
        if name not in known:
            cure = f"{suggestion(name, known)}known: {', '.join(known)}" if known else "leave it out"
            raise UnknownKeyword(name, value, f"is no parameter of {owner}", cure)


def checked_keywords(function: Callable[P, R]) -> Callable[P, R]:
    """Decorates a public function: a keyword that it does not take is refused with the nearest one that it takes."""

    @wraps(function)
    def call(*arguments: P.args, **given: P.kwargs) -> R:
        if given and not given.keys() <= names:
            require_keywords(function.__name__, given, signature(function))
        return function(*arguments, **given)

    names = signature(function).parameters.keys()
    return call


class _OfConstructor:
    """The signature of a class's `__init__`; `inspect` would show that of `__new__`, which has no names."""

    def __get__(self, instance: object, owner: type) -> Signature:
        if instance is not None:
            raise AttributeError("__signature__")
        found = signature(owner.__init__)  # type: ignore[misc]
        return found.replace(parameters=[*found.parameters.values()][1:])


class CheckedKeywords:
    """Base of classes whose constructor refuses a misspelt keyword with the nearest one that it takes."""

    __signature__ = _OfConstructor()

    def __new__(cls, *arguments: Any, **given: Any) -> Self:
        code = getattr(cls.__init__, "__code__", None)
        # cheap: methods are made in every round
        if code is None or not all(map(code.co_varnames.__contains__, given)):
            require_keywords(cls.__name__, given, signature(cls))
        return super().__new__(cls)


def _plain(name: str) -> str:
    return name.lower().replace("-", "").replace("_", "")
