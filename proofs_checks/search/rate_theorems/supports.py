"""Which inequalities a proof uses: multipliers are unique only without superfluous ones."""

from collections.abc import Collection, Sequence

from fedconvex.proofs_checks.search.lyapunov.posed_round import Pair
from fedconvex.proofs_checks.search.rate_theorems.equations import Unknown
from fedconvex.proofs_checks.search.rate_theorems.sampled_rounds import SampledRound
from fedconvex.proofs_checks.search.rate_theorems.valued_rounds import normalised, of_valued_point
from fedconvex.proofs_checks.search.supports import minimal


def few_inequalities(rounds: Sequence[SampledRound], zero: Collection[Unknown] = ()) -> list[str]:
    """The names of inequalities that prove the rates at all samples, none of which can be left out, where all do.

    Those between points far apart are left out first, those with the minimiser last. `zero` are entries of V.
    """
    names = [name for name, _ in rounds[0].posed.inequalities]
    return minimal(names, lambda fewer: suffice(rounds, fewer, zero), _turn)


def superfluous_entries(rounds: Sequence[SampledRound]) -> list[Pair]:
    """V's entries that may be 0, with all inequalities, of the point whose value V measures: that alone is positive."""
    names, pairs = [name for name, _ in rounds[0].posed.inequalities], of_valued_point(rounds[0].posed)
    kept = minimal(pairs, lambda fewer: suffice(rounds, names, [pair for pair in pairs if pair not in fewer]))
    return [pair for pair in pairs if pair not in kept]


def suffice(rounds: Sequence[SampledRound], names: Sequence[str], zero: Collection[Unknown] = ()) -> bool:
    """Whether some Lyapunov functions have the rates with these inequalities alone, as far as the solver tells."""
    fixed: dict[Unknown, float] = dict.fromkeys(zero, 0.0)
    return all(one.program.solve(names, {**fixed, normalised(one.posed): 1.0}) is not None for one in rounds)


def _turn(name: str) -> tuple[bool, int, bool]:
    i, j = map(int, name.split(" from "))
    return 0 in (i, j), -abs(i - j), i < j
