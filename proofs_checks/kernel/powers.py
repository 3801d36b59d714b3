"""Powers and sums of powers with the number T of rounds: r^T and Σ_{t<T} r^t."""

from typing import final

from fedconvex.proofs_checks.kernel.scalars import Field, Scalar, require


@final
class Powers:
    """r^T and Σ_{t<T} r^t for numbers r ≥ 0: S_r is an unknown of the field, and r^T = 1 + (r − 1)S_r.

    S_1 is T. Of the others S_r ≥ 1, since T ≥ 1, and r^T ≥ 0 are all that is known.
    """

    NAMES = ("Σ0", "Σ1", "Σ2", "Σ3")  # of the unknown sums: a proof mentions at most so many ratios

    def __init__(self, field: Field, rounds: str):
        self.field, self.rounds, self.left = field, rounds, list(self.NAMES)
        self.known: list[tuple[Scalar, Scalar]] = []

    def number(self, ratio: Scalar) -> int:
        """The place of this ratio among those that have been met."""
        self.sum(ratio)
        return next(k for k, (r, _) in enumerate(self.known) if r == ratio)

    def sum(self, ratio: Scalar) -> Scalar:
        """Σ_{t<T} r^t."""
        for r, found in self.known:
            if r == ratio:
                return found
        require(self.rounds, "a power of T in a claim about one round")
        if ratio == 1:
            self.known.append((ratio, self.field.parameter(self.rounds)))
            return self.known[-1][1]
        require(self.field.is_nonnegative(ratio), f"the power of {ratio}, which may be negative")
        require(self.left, "sums of powers of too many ratios")
        made = self.field.symbol(self.left.pop(0))
        self.known.append((ratio, made))
        self.field.assume(made - 1, False)  # T ≥ 1
        self.field.assume(1 + (ratio - 1) * made, False)
        return made

    def power(self, ratio: Scalar, more: int = 0) -> Scalar:
        """r^(T + more)."""
        whole = 1 + (ratio - 1) * self.sum(ratio)
        return self.field.scalar(whole * ratio**more if more else whole)
