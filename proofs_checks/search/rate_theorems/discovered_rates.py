"""`discover` where a Lyapunov function is asked for: what the search found, and the kernel's verdict."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from random import Random
from typing import Any

import sympy

from fedconvex.errors import InvalidInput
from fedconvex.proofs_checks.kernel import Refused
from fedconvex.proofs_checks.kernel.proofs import Cases, Combine, Derivation
from fedconvex.proofs_checks.library.lemmas import Lemma
from fedconvex.proofs_checks.search.rate_theorems.irrational_rates import irrational_rate
from fedconvex.proofs_checks.search.rate_theorems.rates import Arguments, NotFound, RateSearch, RateTheorem, concluded
from fedconvex.proofs_checks.worst_cases.questions.function_classes import SmoothStronglyConvex
from fedconvex.proofs_checks.worst_cases.theorems.discovered import Discovered
from fedconvex.proofs_checks.worst_cases.theorems.points import random_points

MOST_TERMS = 3  # of a polynomial at the border of two regimes
Searches = Callable[[tuple[Any, ...], Mapping[Any, Any]], RateSearch]  # from a domain's relations and V's entries
KNOWN = ("method", "clients", "local_solver", "num_clients", "metric")


def discovered_rate(
    arguments: Arguments, symbols: tuple[Any, ...], relations: tuple[Any, ...], samples: int, seed: int
) -> Discovered:
    """V(next state) ≤ bound · V(state) for all parameters, or how far the search came; see `discover`."""

    def known(**values: Any) -> Mapping[str, Any]:
        return checked(arguments(**values))

    def searches(where: tuple[Any, ...], entries: Mapping[Any, Any]) -> RateSearch:
        return RateSearch(known, where, random_points(symbols, where, Random(seed)), samples, entries)

    search = searches(relations, {})

    def run() -> None:
        search.run()
        search.found = with_the_other_regime(search, searches) or search.found

    found = concluded(search, run, symbols, "proved for all parameters")
    if found.bound is None and 2 * search.found.irrational > search.found.count:
        return irrational_rate(known, symbols, relations, samples, seed)
    return found


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


# ---- two theorems about the same V, of which each holds where the other one need not, as one theorem for both


def with_the_other_regime(search: RateSearch, searches: Searches) -> RateTheorem | None:
    """What holds in the whole domain, by the larger of two rates; None where it is not proved.

    Args:
        search: that has found a theorem, which needs one relation besides those of the domain.
        searches: for the search where the opposite relation holds, with the same V.
    """
    found, given = search.found, search.relations
    extra = found.where[len(given) :]
    if len(extra) != 1 or not isinstance(extra[0], sympy.Ge):
        return None
    if len(sympy.Add.make_args(sympy.expand(extra[0].lhs - extra[0].rhs))) > MOST_TERMS:
        return None  # two rates are equal where little is, and to decide signs there takes minutes
    other = searches((*given, sympy.Ge(extra[0].rhs - extra[0].lhs, 0)), found.entries)
    try:
        other.run()
    except (NotFound, Refused, ValueError):
        return None
    if len(other.found.where) > len(given) + 1:
        return None
    try:
        proof = _by_cases(search, other, extra[0])
        proof.theorem()
    except (Refused, ValueError):
        return None
    rates = sympy.Max(found.rate, other.found.rate, evaluate=False)
    names = dict.fromkeys((*found.multipliers, *other.found.multipliers))
    multipliers = {
        name: sympy.Piecewise((found.multipliers.get(name, 0), extra[0]), (other.found.multipliers.get(name, 0), True))
        for name in names
    }
    counts = {name: getattr(found, name) + getattr(other.found, name) for name in ("count", "agreeing", "proved")}
    return RateTheorem(
        given,
        rate=rates,
        entries=found.entries,
        function=found.function,
        multipliers=multipliers,
        proof=proof,
        **counts,
    )


def _by_cases(search: RateSearch, other: RateSearch, where: Any) -> Lemma:
    """The claim with the larger rate: the first proof where the relation holds, the other one elsewhere."""
    first, second = search.found.proof, other.found.proof
    assert first is not None
    assert second is not None
    (_, before), (rate, _) = first.claim.right.args, second.claim.right.args
    claim = replace(first.claim, right=first.claim.right.args[0].max(rate) * before)
    ((larger, _, smaller),) = search.parameters.conditions([where])
    cases = Cases(larger, smaller, *(_concluding(one.proof, claim) for one in (first, second)))
    conditions = search.parameters.conditions(search.relations)
    return Lemma(replace(first.setting, conditions=conditions), claim, Derivation(cases=cases))


def _concluding(proof: Any, claim: Any) -> Derivation:
    (line,) = proof.lines
    assert isinstance(line, Combine)
    return replace(proof, lines=(replace(line, left=claim.left, right=claim.right),))  # type: ignore[no-any-return]
