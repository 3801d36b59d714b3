"""Which inequalities a proof uses: multipliers are unique only without superfluous ones."""

from collections.abc import Sequence

from fedconvex.proofs_checks.search.rate_theorems.sampled_rounds import SampledRound


def few_inequalities(rounds: Sequence[SampledRound]) -> list[str]:
    """The names of inequalities that prove the rates at all samples, none of which can be left out, where all do.

    Those between points far apart are left out first, those with the minimiser last.
    """
    kept = [name for name, _ in rounds[0].posed.inequalities]
    for name in sorted(kept, key=_turn):
        fewer = [other for other in kept if other != name]
        if suffice(rounds, fewer):
            kept = fewer
    return kept


def suffice(rounds: Sequence[SampledRound], names: Sequence[str]) -> bool:
    """Whether some Lyapunov functions have the rates with these inequalities alone, as far as the solver tells."""
    return all(one.program.solve(names, {one.posed.pairs[0]: 1.0}) is not None for one in rounds)


def _turn(name: str) -> tuple[bool, int, bool]:
    i, j = map(int, name.split(" from "))
    return 0 in (i, j), -abs(i - j), i < j
