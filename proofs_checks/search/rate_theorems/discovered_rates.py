"""`discover` where a Lyapunov function is asked for: what the search found, and the kernel's verdict."""

from collections.abc import Mapping
from random import Random
from typing import Any

from fedconvex.errors import InvalidInput
from fedconvex.proofs_checks.kernel import Refused
from fedconvex.proofs_checks.search.rate_theorems.irrational_rates import irrational_rate
from fedconvex.proofs_checks.search.rate_theorems.rates import Arguments, NotFound, RateSearch
from fedconvex.proofs_checks.search.rate_theorems.two_regimes import with_the_other_regime
from fedconvex.proofs_checks.worst_cases.questions.function_classes import SmoothStronglyConvex
from fedconvex.proofs_checks.worst_cases.theorems.discovered import Discovered
from fedconvex.proofs_checks.worst_cases.theorems.points import random_points
from fedconvex.verdicts import Verdict

KNOWN = ("method", "clients", "local_solver", "num_clients", "metric")


def discovered_rate(
    arguments: Arguments, symbols: tuple[Any, ...], relations: tuple[Any, ...], samples: int, seed: int
) -> Discovered:
    """V(next state) ≤ bound · V(state) for all parameters, or how far the search came; see `discover`."""

    def searches(where: tuple[Any, ...], entries: Mapping[Any, Any]) -> RateSearch:
        points = random_points(symbols, where, Random(seed))
        return RateSearch(lambda **values: checked(arguments(**values)), where, points, samples, entries)

    search = searches(relations, {})
    found, verdict, why = search.found, Verdict.PROVED, "proved for all parameters"
    try:
        search.run()
        found = with_the_other_regime(search, searches) or found
    except InvalidInput:
        raise
    except (NotFound, Refused, ValueError) as error:
        if found.rate is None and 2 * found.irrational > found.count:
            return irrational_rate(lambda **values: checked(arguments(**values)), symbols, relations, samples, seed)
        verdict, why = Verdict.UNKNOWN, str(error) if found.rate is None else f"a conjecture: {error}"
    if found.rate is not None:
        proved = f", and V proves it at {found.proved} of these" if found.proved else ""
        why = f"quadratics attain this rate at {found.agreeing} of {found.count} points{proved}; {why}"
    return Discovered(
        symbols, "lyapunov", verdict, why, found.where, found.rate, found.multipliers, found.proof,
        sharp=found.rate is not None, function=found.function,
    )  # fmt: skip


def checked(arguments: Mapping[str, Any]) -> Mapping[str, Any]:
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
