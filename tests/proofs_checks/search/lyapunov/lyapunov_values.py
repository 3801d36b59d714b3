"""What a Lyapunov function measures of a state, from the arrays of a run."""

from fractions import Fraction as F

import numpy as np


def fractions_of(array):
    """The array with Python's fractions in the place of flint's."""
    return np.vectorize(lambda x: F(int(x.p), int(x.q)) if hasattr(x, "p") else F(x), otypes=[object])(
        np.asarray(array, dtype=object)
    )


def parts_of(function, part, state, gradients):
    """What a Lyapunov function measures of the means, or of the deviations: (d,) or (m, d) arrays."""
    arrays = {"server": state.server, **{f"server's {name}": u for name, u in state.shared.items()},
              **{f"{name}_k": u for name, u in state.memory.items()}}  # fmt: skip
    arrays = {name: fractions_of(u) for name, u in arrays.items()}
    found = []
    for read in part.read:
        terms = [(arrays[name], F(int(c.p), int(c.q))) for name, c in zip(part.vectors, read, strict=True)]
        found.append(
            sum((u if u.ndim == 1 else u.mean(0) if part.part == "mean" else u - u.mean(0)) * c for u, c in terms)
        )
    found += [g.mean(0) if part.part == "mean" else g - g.mean(0) for g in gradients]
    names = [place for place in function.posed.names if place[0] == part.part]
    return found[: len(names)]
