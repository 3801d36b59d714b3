"""FedProx's synthetic data: Synthetic(α, β) and Synthetic-IID."""

from collections.abc import Sequence
from typing import Any

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
from fedconvex.errors import InvalidInput
from fedconvex.validation import integer_at_least


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
