"""What a Lyapunov function measures of a state, from the arrays of a run; and a round of SCAFFOLD by NumPy alone."""

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


def one_round_of_scaffold(a, s, e):
    """The map of (w, c_1, …, c_m) on clients a_k x²/2, by numpy alone."""
    m = len(a)
    columns = []
    for unit in np.eye(m + 1):
        w, c = unit[0], unit[1:]
        y = np.full(m, w)
        for _ in range(e):
            y = y - s * (a * y - c + c.mean())
        columns.append([y.mean(), *(c - c.mean() + (w - y) / (e * s))])
    return np.array(columns).T
