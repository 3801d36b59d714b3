"""Powers and sums of powers with a number that counts, such as the number T of rounds: r^T and Σ_{t<T} r^t."""

from typing import final

from fedconvex.proofs_checks.kernel.scalars import Field, Scalar, require


@final
class Powers:
    """r^T and Σ_{t<T} r^t for numbers r ≥ 0: S_r is an unknown of the field, and r^T = 1 + (r − 1)S_r.

    S_1 is T. Of the others all that is known is S_r ≥ 1 where T ≥ 1, and r^T ≥ 0, or > 0 where r > 0.

    Args:
        field: with symbols of these names.
        count: the parameter T; "" where there is none.
        names: of the unknown sums: a proof mentions at most so many ratios.
        least: the smallest T, 0 or 1.
    """

    OF_ROUNDS = ("Σ0", "Σ1", "Σ2", "Σ3")
    OF_STEPS = ("Σι0", "Σι1")

    def __init__(self, field: Field, count: str, names: tuple[str, ...] = OF_ROUNDS, least: int = 1):
        self.field, self.count, self.left, self.least = field, count, list(names), least
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
        require(self.count, "a power of T in a claim about one round")
        if ratio == 1:
            self.known.append((ratio, self.field.parameter(self.count)))
            return self.known[-1][1]
        require(self.field.is_nonnegative(ratio), f"the power of {ratio}, which may be negative")
        require(self.left, "sums of powers of too many ratios")
        made = self.field.symbol(self.left.pop(0))
        self.known.append((ratio, made))
        if self.least:
            self.field.assume(made - 1, False)
        self.field.assume(1 + (ratio - 1) * made, self.field.is_positive(ratio))
        return made

    def power(self, ratio: Scalar, more: int = 0) -> Scalar:
        """r^(T + more)."""
        whole = 1 + (ratio - 1) * self.sum(ratio)
        return self.field.scalar(whole * ratio**more if more else whole)
