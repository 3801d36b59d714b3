"""Which samples a local SGD visits, in which order: decided before it runs, the same for every method."""

from dataclasses import dataclass

import numpy as np

from fedconvex.randomness import Purpose, stream


@dataclass(frozen=True, eq=False)
class Minibatches:
    """Batch i consists of the rows order[bounds[i]] … order[bounds[i + 1] − 1]; client k has the batches numbered
    client_batches[k] … client_batches[k + 1] − 1.
    """

    order: np.ndarray  # (S,)
    bounds: np.ndarray  # (b + 1,)
    client_batches: np.ndarray  # (K + 1,)

    @property
    def steps(self) -> np.ndarray:
        """The number of batches of every client, (K,)."""
        return np.diff(self.client_batches)


def deal(
    first: np.ndarray,
    count: np.ndarray,
    batch_size: int | None,
    epochs: np.ndarray | None,
    steps: np.ndarray | None,
    members: np.ndarray,
    seed: int,
    round: int,
) -> Minibatches:
    """The batches of one round: every epoch visits all samples in a new random order, the last batch may be smaller.

    A client's order depends on the seed, the round and its number alone: fewer epochs are the first ones of more.

    Args:
        first, count: (K,) the rows of the clients' samples.
        batch_size: None for all samples at once.
        epochs, steps: (K,), one of them None: full epochs, or a number of batches (epochs follow one another).
    """
    orders, sizes, numbers = [], [], [0]
    for k, client in enumerate(members):
        n = int(count[k])
        size = n if batch_size is None else min(batch_size, n)
        per_epoch = -(-n // size)
        batches = int(epochs[k]) * per_epoch if epochs is not None else int(steps[k])  # type: ignore[index]
        rounds_through = -(-batches // per_epoch)
        generator = stream(seed, Purpose.MINIBATCHES, round, int(client))
        epoch = np.full(per_epoch, size)
        epoch[-1] = n - size * (per_epoch - 1)
        widths = np.tile(epoch, rounds_through)[:batches]
        order = np.concatenate([generator.permutation(n) for _ in range(rounds_through)] or [np.empty(0, np.int64)])
        orders.append(first[k] + order[: widths.sum()])
        sizes.append(widths)
        numbers.append(numbers[-1] + batches)
    bounds = np.concatenate([[0], np.cumsum(np.concatenate(sizes))]).astype(np.int64)
    return Minibatches(np.concatenate(orders).astype(np.int64), bounds, np.array(numbers, dtype=np.int64))
