"""The synthetic data of FedProx and FedDyn: Gaussian features and labels from a linear model.

Client k's sample is x ~ N(v_k, Σ) with Σ diagonal, Σ_jj = j^(−1.2), and its label is y = argmax_c (W_k x + b_k)_c.
"""

import math
from collections.abc import Callable, Sequence
from typing import Any, Literal, NamedTuple

import numpy as np

from fedconvex.data.federated import FederatedData
from fedconvex.data.random_streams import GeneratorStream, stream
from fedconvex.data.table import default_names
from fedconvex.errors import InvalidInput, short_text
from fedconvex.memory import NUMBER, require, require_numbers
from fedconvex.validation import in_floats, integer_at_least, is_choice, non_negative, random_seed

Reading = Literal["paper", "released"]


class LinearScores(NamedTuple):
    """Scores W x + b: W is (C, p), b is (C,)."""

    W: np.ndarray
    b: np.ndarray


def linear_model(rng: np.random.Generator, classes: int, features: int, deviation: float) -> LinearScores:
    """Draws a linear model: every entry of W and b from N(u, 1), with one u ~ N(0, deviation²) for all entries."""
    mean = deviation * rng.standard_normal()
    return LinearScores(mean + rng.standard_normal((classes, features)), mean + rng.standard_normal(classes))


def centre(rng: np.random.Generator, features: int, deviation: float) -> np.ndarray:
    """Draws the mean v (p,) of a client's features: entries from N(B, 1), with one B ~ N(0, deviation²) for all."""
    return deviation * rng.standard_normal() + rng.standard_normal(features)


def gaussian_clients(
    seed: int,
    sizes: Sequence[int],
    classes: int,
    models: Callable[[int], LinearScores],
    centres: Callable[[int], np.ndarray],
    source: str,
) -> FederatedData:
    """The data of clients with these sizes, linear models (W_k, b_k) and feature means v_k.

    models, centres: k ↦ the model or mean of client k. Raises TooLarge before any are drawn.
    """
    width = centres(0).size
    # Log-normal sizes can be astronomical.
    cure = "give smaller sizes or less spread of sizes, or fewer features"
    require(NUMBER * sum(sizes) * width, "sizes", sizes, f"the data with {width} features", cure)
    scale = np.arange(1, width + 1) ** -0.6  # the root of Σ_jj
    features, targets = [], []
    for k, size in enumerate(sizes):
        model, v = models(k), centres(k)
        x = v + scale * stream(seed, GeneratorStream.FEATURES, k).standard_normal((size, width))
        features.append(x)
        targets.append(np.argmax(x @ model.W.T + model.b, axis=1))
    names = tuple(str(k) for k in range(len(sizes)))
    labels = np.arange(classes)  # declared, since argmax may miss some classes
    return FederatedData(tuple(features), tuple(targets), names, default_names(width), source, class_labels=labels)


def deviation(value: Any, argument: str, reading: Reading) -> float:
    """The standard deviation that a parameter means: its root if it is a variance (paper), itself (released code)."""
    number = in_floats(non_negative(value, argument), argument)
    return number**0.5 if reading == "paper" else number


def check_reading(reading: Reading) -> None:
    """Raises InvalidInput for an unknown reading."""
    if not is_choice(reading, ("paper", "released")):
        raise InvalidInput("reading", reading, "is not known", "give paper or released")


def check_shape(
    clients: Any, features: Any, classes: Any, seed: Any, features_name: str = "features"
) -> tuple[int, int, int, int]:
    """The four as integers. Raises InvalidInput unless clients, features >= 1, classes >= 2 and seed >= 0."""
    sizes = {
        "clients": integer_at_least(clients, 1, "clients"),
        features_name: integer_at_least(features, 1, features_name),
        "classes": integer_at_least(classes, 2, "classes"),
    }
    require_numbers({name: sizes[name] for name in ("clients", features_name)})
    require_numbers({name: sizes[name] for name in (features_name, "classes")})  # one client's model
    return sizes["clients"], sizes[features_name], sizes["classes"], random_seed(seed)


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


def synthetic(
    alpha: float = 1,
    beta: float = 1,
    *,
    clients: int = 30,
    features: int = 60,
    classes: int = 10,
    sizes: Sequence[int] | np.ndarray | None = None,
    seed: int = 0,
    reading: Reading = "paper",
) -> FederatedData:
    """Synthetic(α, β): classification data in which every client has its own linear model and its own features.

    Use it for the FedProx paper's experiments and as a standard heterogeneous benchmark.

    y = argmax_c (W_k x + b_k)_c without noise; the entries of W_k and b_k are N(u_k, 1) with u_k ~ N(0, α), one u_k for
    both; x ~ N(v_k, Σ) with Σ diagonal, Σ_jj = j^(−1.2); the entries of v_k are N(B_k, 1) with B_k ~ N(0, β).

    β controls how much the features differ. α, which the paper introduces for the models, changes no label: u_k adds
    one number to the scores of all classes, so that Synthetic(α, β) is Synthetic(0, β) for every α. Synthetic(0, 0) is
    not iid, since every client draws W_k, b_k and v_k; for iid clients see `synthetic_iid`.

    Args:
        alpha, beta: >= 0.
        clients, features, classes: m >= 1, p >= 1, C >= 2.
        sizes: (m,) whole numbers >= 1, such as `power_law_sizes` gives. Default: 50 + ⌊exp(4 + 2 z_k)⌋ with
            z_k ~ N(0, 1), as in the authors' released code; the paper states only that sizes follow a power law. One
            client often holds half of all samples.
        seed: a whole number >= 0. Client k's data depend on it and on k, not on the number of clients.
        reading: `paper`: alpha and beta are variances, as the paper's N(0, α) suggests; `released`: they are standard
            deviations, as the authors' released code uses them. The readings differ only where one is neither 0 nor 1,
            such as in Synthetic(0.5, 0.5), where the authors' test split fits `released` better (the clients' mean
            features vary with an estimated β of 0.29).

    Returns features (n_k, p), targets 0 … C − 1 with all C classes declared. Raises InvalidInput.
    Source: Li et al., "Federated optimization in heterogeneous networks" (FedProx), section 5.1 and appendix C.1, after
    Shamir, Srebro and Zhang (2014); the split into training and test is `train_test_split`.
    """
    check_reading(reading)
    spread, shift = deviation(alpha, "alpha", reading), deviation(beta, "beta", reading)
    clients, features, classes, seed = check_shape(clients, features, classes, seed)
    return gaussian_clients(
        seed,
        _sizes(sizes, clients, seed),
        classes,
        lambda k: linear_model(stream(seed, GeneratorStream.MODEL, k), classes, features, spread),
        lambda k: centre(stream(seed, GeneratorStream.CENTRE, k), features, shift),
        f"Synthetic({alpha}, {beta}), {reading} reading, seed {seed}",
    )


def synthetic_iid(
    *,
    clients: int = 30,
    features: int = 60,
    classes: int = 10,
    sizes: Sequence[int] | np.ndarray | None = None,
    seed: int = 0,
) -> FederatedData:
    """Synthetic-IID: as `synthetic`, but all clients share one model and one distribution of features.

    Use it as the homogeneous counterpart of `synthetic`.

    y = argmax_c (W x + b)_c without noise; the entries of W and b are N(0, 1); x ~ N(0, Σ), Σ_jj = j^(−1.2).
    Arguments, result and errors: see `synthetic`. Source: FedProx, section 5.1 and appendix C.1.
    """
    clients, features, classes, seed = check_shape(clients, features, classes, seed)
    model = linear_model(stream(seed, GeneratorStream.MODEL), classes, features, 0.0)
    return gaussian_clients(
        seed,
        _sizes(sizes, clients, seed),
        classes,
        lambda k: model,
        lambda k: np.zeros(features),
        f"Synthetic-IID, seed {seed}",
    )


def _sizes(sizes: Any, clients: int, seed: int) -> list[int]:
    if sizes is None:
        # int() rounds down, as the released code does
        return [50 + int(stream(seed, GeneratorStream.SIZE, k).lognormal(4, 2)) for k in range(clients)]
    if not isinstance(sizes, Sequence | np.ndarray) or len(np.shape(sizes[:1])) != 1 or len(sizes) != clients:
        problem = f"must have one entry for each of the {clients} clients"
        raise InvalidInput("sizes", sizes, problem, "correct its length, or clients")
    return [integer_at_least(size, 1, f"sizes[{k}]") for k, size in enumerate(sizes)]
