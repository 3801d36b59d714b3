"""`discover` where a Lyapunov function is asked for: what the search found, and the kernel's verdict."""

from collections.abc import Iterable, Mapping
from typing import Any

from fedconvex.errors import InvalidInput
from fedconvex.proofs_checks.kernel import Refused
from fedconvex.proofs_checks.search.rate_theorems.rates import Arguments, NotFound, RateSearch
from fedconvex.proofs_checks.worst_cases.questions.function_classes import SmoothStronglyConvex
from fedconvex.proofs_checks.worst_cases.theorems.discovery import Discovered
from fedconvex.proofs_checks.worst_cases.theorems.points import Point
from fedconvex.verdicts import Verdict

KNOWN = ("method", "clients", "local_solver", "num_clients", "metric")


def discovered_rate(
    arguments: Arguments, symbols: tuple[Any, ...], relations: tuple[Any, ...], points: Iterable[Point], samples: int
) -> Discovered:
    """V(next state) ≤ bound · V(state) for all parameters, or how far the search came; see `discover`."""
    search = RateSearch(lambda **values: _checked(arguments(**values)), relations, points, samples)
    verdict, why = Verdict.PROVED, "proved for all parameters"
    try:
        search.run()
    except (NotFound, Refused, ValueError) as error:
        if isinstance(error, InvalidInput):
            raise
        verdict, why = Verdict.UNKNOWN, str(error) if search.found.rate is None else f"a conjecture: {error}"
    found = search.found
    read = f"quadratics attain this rate at {found.agreeing} of {found.count} points"
    proved = f", and V proves it at {found.proved} of these" if found.proved else ""
    says = why if found.rate is None else f"{read}{proved}; {why}"
    return Discovered(
        symbols, "lyapunov", verdict, says, found.where, found.rate, found.multipliers, found.proof,
        sharp=found.rate is not None, function=found.function,
    )  # fmt: skip


def _checked(arguments: Mapping[str, Any]) -> Mapping[str, Any]:
    """The arguments, where the search knows them all."""
    if unknown := arguments.keys() - set(KNOWN):
        name = min(unknown)
        raise InvalidInput(name, arguments[name], "is not searched for all parameters", f"give {', '.join(KNOWN[:3])}")
    if arguments.get("num_clients", "any") != "any":
        raise InvalidInput("num_clients", arguments["num_clients"], "is one number, and proofs are for any",
                           "leave it out, or call lyapunov at numbers")  # fmt: skip
    if not isinstance(arguments.get("clients"), SmoothStronglyConvex):
        raise InvalidInput("clients", arguments.get("clients"), "are not strongly convex and smooth",
                           "give SmoothStronglyConvex(mu, L)")  # fmt: skip
    return arguments
