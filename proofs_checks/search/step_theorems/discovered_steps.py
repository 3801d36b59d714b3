"""`discover` for every number of local steps: what the search found, and the kernel's verdict."""

from collections.abc import Callable, Mapping
from typing import Any

from fedconvex.errors import InvalidInput
from fedconvex.proofs_checks.kernel import Refused
from fedconvex.proofs_checks.search.rate_theorems.discovered_rates import checked
from fedconvex.proofs_checks.search.rate_theorems.rates import NotFound
from fedconvex.proofs_checks.search.step_theorems.step_search import StepSearch
from fedconvex.proofs_checks.worst_cases.certificates.question_terms import NoLemma
from fedconvex.proofs_checks.worst_cases.theorems.discovered import Discovered
from fedconvex.verdicts import Verdict


def discovered_for_all_steps(
    arguments: Callable[..., Mapping[str, Any]], symbols: tuple[Any, ...], local_steps: str, relations: tuple[Any, ...],
    seed: int,
) -> Discovered:  # fmt: skip
    """V(next state) ≤ bound · V(state) for every number of local steps, or how far the search came; see `discover`."""
    names = [str(x) for x in symbols]
    if local_steps not in names:
        raise InvalidInput("local_steps", local_steps, "is none of the parameters", f"give one of {', '.join(names)}")
    if len(names) == 1:
        raise InvalidInput("arguments", arguments, "has no parameter but the number of local steps",
                           "make a stepsize or a curvature one")  # fmt: skip

    def checked_arguments(**values: Any) -> Mapping[str, Any]:
        given = arguments(**values)
        if given.get("metric") != "lyapunov":
            raise InvalidInput("local_steps", local_steps, "is for linear rates", 'give metric="lyapunov"')
        return checked(given)

    search = StepSearch(checked_arguments, symbols, local_steps, relations, seed)
    found, verdict, why = search.found, Verdict.PROVED, "proved for all parameters and every number of local steps"
    try:
        search.run()
    except InvalidInput:
        raise
    except (NotFound, NoLemma, Refused, ValueError) as error:
        verdict, why = Verdict.UNKNOWN, str(error) if found.rate is None else f"a conjecture: {error}"
    if found.rate is not None:
        why = f"quadratics attain this rate, and V proves it at {found.proved} of {found.count} points; {why}"
    return Discovered(
        symbols, "lyapunov", verdict, why, found.where, found.rate, found.multipliers, found.proof,
        sharp=found.rate is not None, function=found.function, local_steps=local_steps,
    )  # fmt: skip
