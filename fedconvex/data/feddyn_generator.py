"""FedDyn's synthetic data, with three independent sources of heterogeneity."""

import math

import numpy as np

from fedconvex.data.federated import FederatedData
from fedconvex.data.gaussian_clients import (
    Reading,
    centre,
    check_reading,
    check_shape,
    deviation,
    gaussian_clients,
    linear_model,
)
from fedconvex.data.random_streams import GeneratorStream, stream
from fedconvex.errors import short_text
from fedconvex.memory import require_numbers
from fedconvex.validation import integer_at_least

LARGEST_LOGARITHM = 50.0  # avoids overflow of exp; sizes near it are refused later, for lack of memory


def feddyn_synthetic(
    *,
    optima: float | None = None,
    features: float | None = None,
    sizes: float | None = None,
    clients: int = 20,
    dimension: int = 30,
    classes: int = 5,
    average: int = 200,
    seed: int = 0,
    reading: Reading = "paper",
) -> FederatedData:
    """FedDyn's synthetic classification data, with heterogeneity of labels, features and sizes switched on separately.

    Use it to see which kind of heterogeneity hurts a method. The default has none: all clients are identically
    distributed. y = argmax_c (θ_k x + b_k)_c without noise and x ~ N(ν_k, Σ) with Σ diagonal, Σ_jj = j^(−1.2).

    1. `optima`: every client has a model of its own, the entries of θ_k and b_k being N(μ_k, 1) with μ_k ~ N(0, γ1);
       off: all clients share one θ and b with entries N(0, 1).
    2. `features`: the entries of ν_k are N(β_k, 1) with β_k ~ N(0, γ2); off: ν_k = 0.
    3. `sizes`: log n_k is normal with variance γ3 and n_k has mean `average`; off: n_k = `average`.

    None switches a kind off. For kinds 1 and 2 that differs from γ = 0, which makes the means μ_k or β_k zero but
    leaves every client its own draw. Switching one kind does not change the random draws of the others. Once kind 1
    is on, no label depends on γ1: μ_k shifts the scores of all classes alike.

    Args:
        optima, features, sizes: γ1, γ2, γ3 >= 0, or None. The paper does not state its values.
        clients, dimension, classes, average: m >= 1, p >= 1, C >= 2, and the average size >= 1. Sizes are at least 1.
        seed: a whole number >= 0. Client k's data depend on it and on k, not on the number of clients.
        reading: `paper`: the gammas are variances; the paper's "variance γ3" is taken as that of log n_k, and n_k
            (rounded to the nearest) has mean `average`. `released`: they are standard deviations, as in the authors'
            released code, and n_k (rounded down) has median `average`, mean average·exp(γ3²/2).

    Returns features (n_k, p), targets 0 … C − 1 with all C classes declared. Raises InvalidInput.
    Source: Acar et al., "Federated learning based on dynamic regularization" (FedDyn), appendix A.1.1.
    """
    check_reading(reading)
    model_spread = None if optima is None else deviation(optima, "optima", reading)
    centre_spread = None if features is None else deviation(features, "features", reading)
    size_spread = 0.0 if sizes is None else deviation(sizes, "sizes", reading)
    clients, dimension, classes, seed = check_shape(clients, dimension, classes, seed, "dimension")
    average = integer_at_least(average, 1, "average")
    require_numbers({"clients": clients, "average": average, "dimension": dimension})
    shared = linear_model(stream(seed, GeneratorStream.MODEL), classes, dimension, 0.0)

    def size(k: int) -> int:
        logarithm = size_spread * stream(seed, GeneratorStream.SIZE, k).standard_normal()
        if reading == "paper":
            logarithm -= size_spread**2 / 2  # a log-normal variable has mean exp(mean of the log + variance/2)
        drawn = average * math.exp(min(logarithm, LARGEST_LOGARITHM))
        return max(1, round(drawn) if reading == "paper" else math.floor(drawn))

    settings = ", ".join(
        f"{name}={short_text(value)}" for name, value in (("γ1", optima), ("γ2", features), ("γ3", sizes))
    )
    return gaussian_clients(
        seed,
        [size(k) for k in range(clients)],
        classes,
        lambda k: (
            shared
            if model_spread is None
            else linear_model(stream(seed, GeneratorStream.MODEL, k), classes, dimension, model_spread)
        ),
        lambda k: (
            np.zeros(dimension)
            if centre_spread is None
            else centre(stream(seed, GeneratorStream.CENTRE, k), dimension, centre_spread)
        ),
        f"FedDyn synthetic, {settings}, {reading} reading, seed {seed}",
    )
