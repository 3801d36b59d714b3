"""The check of an implementation that is one object, as all of these tests write theirs."""

from typing import Any

from fedconvex.conformance import Report, check


def report_of(method: Any, made: Any, clients: bool = False, **options: Any) -> Report:
    """What `check` says of the object's functions, with `client_models` among them where `clients`."""
    names = ("init", "round", "server_model", *(("client_models",) if clients else ()))
    return check(method, **{name: getattr(made, name) for name in names}, **options)
