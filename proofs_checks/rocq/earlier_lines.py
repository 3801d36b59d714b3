"""The lines of a proof that facts rest on."""

from collections.abc import Iterable
from typing import Any

from fedconvex.proofs_checks.kernel import proofs


def lines_under(facts: Iterable[tuple[Any, Any]], lines: Iterable[Any]) -> tuple[Any, ...]:
    """Those of the lines that these facts, with their multipliers, rest on, in their order."""
    known = {line.name: line for line in lines}
    needed: set[str] = set()
    waiting = _named(facts)
    while waiting:
        name = waiting.pop()
        if name in needed or name not in known:
            continue
        needed.add(name)
        line = known[name]
        waiting += [line.of] if isinstance(line, proofs.Root) else []
        waiting += _named(getattr(line, "facts", ()))
    return tuple(line for line in known.values() if line.name in needed)


def _named(facts: Iterable[tuple[Any, Any]]) -> list[str]:
    """The names of the lines that these facts are."""
    found: list[str] = []
    for _, fact in facts:
        match fact:
            case proofs.Earlier(line):
                found.append(line)
            case proofs.Product(one, other):
                found += [one, other]
    return found
