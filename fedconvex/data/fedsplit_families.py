"""The problems of FedSplit's experiments: least squares, logistic regression, and least squares of prescribed κ.

The paper states dimensions, spectra and noise in its appendix B, which was not available: the defaults here are ours,
and all of them are arguments.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING, Literal

import numpy as np

from fedconvex.data.random_streams import GeneratorStream, stream
from fedconvex.errors import InvalidInput
from fedconvex.memory import require_numbers
from fedconvex.validation import in_floats, integer_at_least, is_choice, non_negative, positive, random_seed

if TYPE_CHECKING:
    from fedconvex.problems import LeastSquares, Logistic


def fedsplit_least_squares(
    *,
    clients: int = 25,
    samples: int = 200,
    features: int = 100,
    noise: float = 0.5,
    spread: float = 0.0,
    seed: int = 0,
) -> "LeastSquares":
    """Least squares with Gaussian designs: f_k(x) = ½‖A_k x − b_k‖² with b_k = A_k x_k + noise·ε_k.

    Use it for well-conditioned synthetic regression with controlled heterogeneity (`spread`).

    The entries of A_k and ε_k are N(0, 1); x_k = x_0 + spread·z_k, and the entries of x_0 and z_k are N(0, 1).

    clients, samples, features: m, n, d >= 1, n rows for each client. noise, spread: >= 0. With noise = spread = 0 all
    clients share the minimiser x_0, so that no method has a bias. seed: a whole number >= 0; client k's data depend on
    it and on k, not on m. The weights are 1/m; the paper's objective is the sum, m times as large.
    Raises InvalidInput. Source: Pathak and Wainwright, "FedSplit" (2020), section 2.3, equation (8), Figure 1.
    """
    clients, samples, features, seed = _shape(clients, samples, features, seed)
    truth, noise = _truths(seed, features, spread, 1.0), in_floats(non_negative(noise, "noise"), "noise")
    designs, targets = [], []
    for k in range(clients):
        A = stream(seed, GeneratorStream.FEATURES, k).standard_normal((samples, features))
        designs.append(A)
        targets.append(A @ truth(k) + noise * stream(seed, GeneratorStream.TARGETS, k).standard_normal(samples))
    from fedconvex.problems import LeastSquares

    return LeastSquares(A=designs, b=targets)


def fedsplit_logistic(
    *,
    clients: int = 10,
    samples: int = 500,
    features: int = 50,
    signal: float = 1.0,
    spread: float = 0.0,
    ridge: float = 0.0,
    seed: int = 0,
) -> "Logistic":
    """Logistic regression with Gaussian features: P(y = 1 | a) = 1/(1 + exp(−aᵀx_k)), y in {−1, +1}.

    Use it for synthetic classification by a well-specified model, with controlled heterogeneity (`spread`).

    The entries of a are N(0, 1); x_k = signal·(x_0 + spread·z_k)/√d, and the entries of x_0 and z_k are N(0, 1): scores
    aᵀx_k have a standard deviation of about signal·√(1 + spread²).

    clients, samples, features: m, n, d >= 1, n samples for each client. signal, spread, ridge: >= 0. Without a ridge, a
    minimiser exists only if no x separates the classes: n·m >= 4d is ample for signals up to 1. seed: a whole number
    >= 0; client k's data depend on it and on k, not on m. The objective is the mean over all samples (plus the ridge);
    the paper's is the sum, n·m times as large. Raises InvalidInput.
    Source: Pathak and Wainwright, "FedSplit" (2020), section 4, equation (20), Figure 2(a).
    """
    clients, samples, features, seed = _shape(clients, samples, features, seed)
    truth = _truths(seed, features, spread, in_floats(non_negative(signal, "signal"), "signal") / features**0.5)
    designs, labels = [], []
    for k in range(clients):
        A = stream(seed, GeneratorStream.FEATURES, k).standard_normal((samples, features))
        scores = A @ truth(k)
        designs.append(A)
        # a logistic variable is below s with probability 1/(1 + exp(−s))
        labels.append(np.where(stream(seed, GeneratorStream.TARGETS, k).logistic(size=samples) < scores, 1, -1))
    from fedconvex.problems import Logistic

    return Logistic(A=designs, y=labels, ridge=ridge)


def conditioned_least_squares(
    kappa: float,
    *,
    clients: int = 10,
    features: int = 50,
    L: float = 1.0,
    noise: float = 0.1,
    eigenvectors: Literal["own", "shared"] = "own",
    seed: int = 0,
) -> "LeastSquares":
    """Least squares with condition number κ: every A_kᵀA_k has smallest eigenvalue L/κ and largest eigenvalue L.

    Use it to measure how the number of rounds grows with κ.

    A_k = diag(√λ_k) Q_kᵀ, d × d, with Q_k a random orthogonal matrix (Haar) and λ_k1 = L/κ, λ_kd = L, the other
    log λ_kj uniform between; b_k = A_k x_0 + noise·ε_k; the entries of x_0 and ε_k are N(0, 1). More rows than d would
    add only a constant to f_k(x) = ½‖A_k x − b_k‖².

    Args:
        kappa: >= 1, FedSplit's κ = max_k L_k / min_k mu_k (equation 14); the eigenvalues are exact up to rounding,
            about 1e-15·L each. The paper's Figure 3 has κ from 10 to 10,000.
        clients, features: m, d >= 1; d >= 2 if kappa > 1. L: > 0. noise: >= 0; with 0 all clients share a minimiser.
        eigenvectors: `own`: every client has its own Q_k; the mean of the A_kᵀA_k is then better conditioned than κ,
            increasingly so with more clients. `shared`: one Q for all, so that gradient descent on the objective needs
            rounds in proportion to κ.
        seed: a whole number >= 0. Client k's data depend on it and on k, not on m.

    Weights are 1/m. Raises InvalidInput. Source: Pathak and Wainwright, "FedSplit" (2020), section 4, Figure 3; the
    spectrum, dimensions and noise are ours.
    """
    clients, _, features, seed = _shape(clients, features, features, seed)
    if in_floats(non_negative(kappa, "kappa"), "kappa") < 1:
        raise InvalidInput("kappa", kappa, "is a ratio of the largest to the least eigenvalue", "give kappa >= 1")
    if not is_choice(eigenvectors, ("own", "shared")):
        raise InvalidInput("eigenvectors", eigenvectors, "is not known", "give own or shared")
    if features == 1 and kappa > 1:
        problem = f"leaves room for one eigenvalue, kappa = {kappa} needs two"
        raise InvalidInput("features", features, problem, "give features >= 2, or kappa = 1")
    largest, noise = in_floats(positive(L, "L"), "L"), in_floats(non_negative(noise, "noise"), "noise")
    least, truth = largest / in_floats(kappa, "kappa"), _truths(seed, features, 0.0, 1.0)(0)
    if least == 0:
        raise InvalidInput("kappa", kappa, "makes the least eigenvalue L/kappa a float 0", "give a smaller one")
    designs, targets = [], []
    for k in range(clients):
        place = (k,) if eigenvectors == "own" else ()
        Q = _orthogonal(stream(seed, GeneratorStream.FEATURES, *place), features)
        # A = √Λ Qᵀ, so that AᵀA = QΛQᵀ
        A = np.sqrt(_spectrum(stream(seed, GeneratorStream.MODEL, k), features, least, largest))[:, None] * Q.T
        designs.append(A)
        targets.append(A @ truth + noise * stream(seed, GeneratorStream.TARGETS, k).standard_normal(features))
    from fedconvex.problems import LeastSquares

    return LeastSquares(A=designs, b=targets)


def _shape(clients: int, samples: int, features: int, seed: int) -> tuple[int, int, int, int]:
    sizes = {
        "clients": integer_at_least(clients, 1, "clients"),
        "samples": integer_at_least(samples, 1, "samples"),
        "features": integer_at_least(features, 1, "features"),
    }
    require_numbers(sizes)
    return sizes["clients"], sizes["samples"], sizes["features"], random_seed(seed)


def _truths(seed: int, features: int, spread: float, scale: float) -> Callable[[int], np.ndarray]:
    """The clients' true parameters, k ↦ scale·(x_0 + spread·z_k)."""
    spread = in_floats(non_negative(spread, "spread"), "spread")
    common = stream(seed, GeneratorStream.CENTRE).standard_normal(features)

    def truth(k: int) -> np.ndarray:
        own: np.ndarray = scale * (common + spread * stream(seed, GeneratorStream.CENTRE, k).standard_normal(features))
        return own

    return truth


def _spectrum(rng: np.random.Generator, size: int, least: float, largest: float) -> np.ndarray:
    """`least`, `largest`, and between them random numbers whose logarithms are uniform; shape (size,)."""
    if size == 1:
        return np.array([largest])
    inner = least * (largest / least) ** rng.random(size - 2)
    return np.concatenate([[least], np.clip(inner, least, largest), [largest]])


def _orthogonal(rng: np.random.Generator, size: int) -> np.ndarray:
    """A Haar-distributed orthogonal matrix: Q of a Gaussian matrix's QR decomposition with positive diagonal of R.

    Without the sign correction the distribution would depend on the sign convention of the QR routine.
    """
    Q, R = np.linalg.qr(rng.standard_normal((size, size)))
    signed: np.ndarray = Q * np.where(np.diag(R) < 0, -1.0, 1.0)
    return signed
