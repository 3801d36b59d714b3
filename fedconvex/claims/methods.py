"""The method of a setting: each of its parameters by value, so that nothing is assumed by a default nobody sees."""

from collections.abc import Mapping
from dataclasses import MISSING
from typing import Any

from fedconvex.claims.terms import IllFormed, Number, number
from fedconvex.compressors import Compressor
from fedconvex.methods import METHODS as METHODS
from fedconvex.methods import Method
from fedconvex.names import one_of

Value = Number | str | bool | None  # a formula; an option by its name, or yes or no; None: as the method chooses


def running(method: str, **given: Any) -> dict[str, Any]:
    """The fields of a `ClaimSetting` that say which method runs: its parameters as given, and others by default.

    >>> ClaimSetting(**running("FedGD", stepsize=parameter("s")))  # local_steps = 1, which the setting then says
    """
    return {"method": method, "method_parameters": every_parameter(method, **given)}


def every_parameter(method: str, **given: Any) -> dict[str, Value]:
    """The method's parameters by value: those given, and the defaults of others that have one."""
    own = {f.name: f.default for f in Method.parameters_of(method) if f.default is not MISSING}
    if compressors := [name for name, x in {**own, **given}.items() if isinstance(x, Compressor)]:
        raise IllFormed("method", method, f"compresses what clients send, by its {compressors[0]}, which claims do not "
                        "say", "`lyapunov` proves its rates")  # fmt: skip
    return {name: x if isinstance(x, str | bool | None) else number(x) for name, x in {**own, **given}.items()}


def require_values(method: str, given: Mapping[str, Value]) -> None:
    """Raises IllFormed for a parameter of the method that has no value, and for a value of none.

    Of a method that there is not the kernel, and whoever plays it, say so.
    """
    if Method.named(method) is None:
        return
    known = {f.name: f for f in Method.parameters_of(method)}
    for name in given:
        if name not in known:
            raise IllFormed("method_parameters", name, f"is no parameter of {method}", one_of(name, known))
    for name, f in known.items():
        if name not in given:
            cure = f'give {name} by value; fedconvex.claims.methods.running("{method}", …) adds defaults'
            raise IllFormed("method_parameters", list(given), f"leave out {name} of {method}", cure)
        if "number" in f.metadata and isinstance(given[name], str):
            cure = 'give a formula, such as parameter("s") or number(Fraction(1, 8))'
            raise IllFormed(f"method_parameters[{name}]", given[name], "is a text, and no formula", cure)


def counts_of(method: str) -> frozenset[str]:
    """The method's parameters that are no real numbers: numbers of steps, options."""
    return frozenset(f.name for f in Method.parameters_of(method) if "number" not in f.metadata)


def made(method: str, values: Mapping[str, Any]) -> Method:
    """The method at these values; numbers of steps and the like are integers."""
    counts, kind = counts_of(method), Method.named(method)
    assert kind is not None
    whole = {name: int(x) for name, x in values.items() if name in counts and not isinstance(x, str | bool | None)}
    return kind(**{**values, **whole})


def needs_equal_weights(scheme: str, method: str) -> bool:
    """Whether a draw's plain average has the clients' mean as expectation only where their weights are equal.

    The mean is weighted, and so are independent draws. Where the method averages plainly, its clients' functions have
    the weights as factors, and the mean is plain.
    """
    kind = Method.named(method)
    plain = kind is not None and kind.plain
    return scheme != "everyone" and plain == (scheme == "independent")
