"""What the synthetic data of FedProx and FedDyn share: Gaussian features and labels from a linear model.

Client k's sample is x ~ N(v_k, Σ) with Σ diagonal, Σ_jj = j^(−1.2), and its label is y = argmax_c (W_k x + b_k)_c.
"""

from collections.abc import Callable, Sequence
from typing import Any, Literal, NamedTuple

import numpy as np

from fedconvex.data.federated import FederatedData
from fedconvex.data.random_streams import GeneratorStream, stream
from fedconvex.data.table import default_names
from fedconvex.errors import InvalidInput
from fedconvex.memory import NUMBER, require, require_numbers
from fedconvex.validation import in_floats, integer_at_least, is_choice, non_negative

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
    return sizes["clients"], sizes[features_name], sizes["classes"], integer_at_least(seed, 0, "seed")
