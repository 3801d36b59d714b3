"""Partitions of one data set's samples among clients: iid, of uneven sizes, with skewed labels, or few labels each.

If the data state which client each sample belongs to, use that instead: see client_column in `fedconvex.data.load`.
"""

import math
from collections.abc import Sequence
from typing import Any, Literal, NamedTuple

import numpy as np

from fedconvex.data.client_sizes import apportion, lognormal_shares, power_law_shares
from fedconvex.data.targets import Task, are_labels, as_targets, check_task
from fedconvex.errors import InvalidInput
from fedconvex.names import suggestion
from fedconvex.validation import integer_at_least, is_choice, random_seed

QUANTILE_BINS = 10
KINDS = ("iid", "lognormal", "dirichlet", "by-label", "power-law-labels")
CURE = (
    "give iid, lognormal:SIGMA (such as lognormal:0.3), dirichlet:ALPHA (such as dirichlet:0.3), "
    "dirichlet:ALPHA,lognormal:SIGMA, by-label:D or power-law-labels:D (such as by-label:2)"
)
NATURAL_CURE = "name the column that says whose sample it is: client_column (--client-column)"


class Scheme(NamedTuple):
    """A partition scheme: its name, its parameter ALPHA, D or SIGMA (0 for iid), and sigma of a Dirichlet scheme."""

    kind: Literal["iid", "lognormal", "dirichlet", "by-label", "power-law-labels"]
    parameter: float
    sigma: float | None = None


def parse_scheme(text: str) -> Scheme:
    """Parses `iid`, `lognormal:SIGMA` (SIGMA >= 0), `dirichlet:ALPHA` (ALPHA > 0), `by-label:D`, `power-law-labels:D`.

    D is a whole number >= 1; `dirichlet:ALPHA,lognormal:SIGMA` is both. Raises InvalidInput for anything else.
    """
    if not isinstance(text, str):
        raise InvalidInput("partition", text, "is not the name of a scheme", CURE)
    if "," in text:  # only dirichlet:ALPHA,lognormal:SIGMA has two parts
        of_labels, of_sizes = (parse_scheme(part) for part in text.split(",", 1))
        if (of_labels.kind, of_sizes.kind) != ("dirichlet", "lognormal"):
            raise InvalidInput("partition", text, "joins schemes that cannot be combined", CURE)
        return Scheme("dirichlet", of_labels.parameter, of_sizes.parameter)
    kind, _, parameter = text.strip().partition(":")
    if kind == "iid" and not parameter and ":" not in text:
        return Scheme("iid", 0)
    if kind == "natural":
        raise InvalidInput("partition", text, "is the data's own partition, not a scheme", NATURAL_CURE)
    if kind == "lognormal":
        return Scheme("lognormal", _parameter(text, parameter, zero=True))
    if kind == "dirichlet":
        return Scheme("dirichlet", _parameter(text, parameter))
    if kind in ("by-label", "power-law-labels"):
        labels = _parameter(text, parameter)
        if labels < 1 or labels != int(labels):
            raise InvalidInput("partition", text, "D, the labels per client, must be a whole number >= 1", CURE)
        return Scheme("by-label" if kind == "by-label" else "power-law-labels", int(labels))
    raise InvalidInput("partition", text, "is not a known scheme", suggestion(kind, KINDS) + CURE)


def partition(
    labels_or_targets: Sequence[Any] | np.ndarray,
    num_clients: int,
    scheme: str = "iid",
    seed: int = 0,
    task: Task | Literal["auto"] = "auto",
) -> list[np.ndarray]:
    """Divides n samples among `num_clients` clients: disjoint index sets that cover all samples, none of them empty.

    Use it to create heterogeneity of a chosen kind and degree from one data set:

    * `iid`: a random partition; sizes differ by at most 1. The baseline.
    * `lognormal:SIGMA`: a random partition with the sizes of `lognormal_sizes`, whose logarithms have standard
      deviation SIGMA: uneven sizes, same distribution. Source: FedDyn, section 4 and appendix A.2 (SIGMA = 0.3).
    * `dirichlet:ALPHA`: skewed labels, the usual choice. Client k draws its label proportions q_k from
      Dirichlet(ALPHA · p), where p are the label proportions of the whole, then samples without replacement; a label
      without samples left drops out of q_k. Sizes differ by at most 1. Small ALPHA: each client has nearly one label;
      large ALPHA: nearly iid; the last clients receive the remaining samples. Source: Hsu, Qi and Brown, "Measuring
      the effects of non-identical data distribution for federated visual classification" (2019). FedDyn states its
      prior a (0.6, 0.3) per label: with C labels of equal proportions it is ALPHA = C·a, `dirichlet:6` and
      `dirichlet:3` for its MNIST and CIFAR-10.
      `dirichlet:ALPHA,lognormal:SIGMA`: the same with the sizes of `lognormal:SIGMA`, FedDyn's Table 4.
    * `by-label:D`: sort by label, cut into num_clients · D shards of equal size, give each client D random shards:
      about D labels each, an extreme skew. Source: McMahan et al., "Communication-efficient learning of deep networks
      from decentralized data" (2017), with D = 2.
      With fewer samples than shards, each sample is a shard and clients get at most D of them.
    * `power-law-labels:D`: every client has D random labels, frequent labels more often, and the sizes follow the power
      law of `power_law_sizes` as closely as the labels' frequencies allow; no sample is left over. A client has fewer
      than D labels only if samples or labels are too few, and never more; there must be enough clients to hold all
      labels. Source: FedProx, section 5.1 and appendix C.1: MNIST over 1000 devices, D = 2; the exponent is ours.

    Targets of a regression are binned at their deciles, and the bins serve as labels.

    Args:
        labels_or_targets: (n,), numbers or text.
        num_clients: 1 <= m <= n.
        scheme: one of the above.
        seed: a whole number >= 0.
        task: regression, binary or multiclass; auto: text is a label, and so are whole numbers with 2 distinct values,
            or with up to 100 of which each has 5 samples on average.

    Returns:
        m ascending int64 index arrays.

    Raises:
        InvalidInput: an unknown scheme or parameter; more clients than samples.
    """
    kind, parameter, sigma = parse_scheme(scheme)
    targets = as_targets(labels_or_targets)
    if not is_choice(task, ("auto",)):
        check_task(task, targets)
    num_clients = integer_at_least(num_clients, 1, "clients")
    rng = np.random.default_rng(random_seed(seed))
    if num_clients > targets.size:
        problem = f"more clients than the {targets.size} samples, so some would be empty"
        raise InvalidInput("clients", num_clients, problem, f"give at most {targets.size}")
    if kind == "iid":
        parts = np.array_split(rng.permutation(targets.size), num_clients)
    elif kind == "lognormal":
        sizes = _lognormal(targets.size, num_clients, parameter, rng)
        parts = np.split(rng.permutation(targets.size), np.cumsum(sizes)[:-1])
    elif kind == "dirichlet":
        even = targets.size // num_clients + (np.arange(num_clients) < targets.size % num_clients)
        sizes = even if sigma is None else _lognormal(targets.size, num_clients, sigma, rng)
        parts = _dirichlet(_labels(targets, task), sizes, parameter, rng)
    elif kind == "by-label":
        parts = _by_label(_labels(targets, task), num_clients, int(parameter), rng)
    else:
        parts = power_law_labels(_labels(targets, task), num_clients, int(parameter), rng)
    return [np.sort(part) for part in parts]


def _parameter(text: str, parameter: str, zero: bool = False) -> float:
    try:
        value = float(parameter)
    except ValueError:
        raise InvalidInput("partition", text, "needs a number after the colon", CURE) from None
    if not ((value > 0 or (zero and value == 0)) and math.isfinite(value)):
        wanted = ">= 0" if zero else "positive"
        raise InvalidInput("partition", text, f"the number after the colon must be {wanted} and finite", CURE)
    return value


def _labels(targets: np.ndarray, task: Task | Literal["auto"]) -> np.ndarray:
    """The targets as labels 0 … C − 1, all of which occur; a regression's are binned at the deciles."""
    if task == "regression" or (task == "auto" and not are_labels(targets)):
        targets = targets / 2  # the difference of two halves is a float
        edges = np.quantile(targets, np.arange(1, QUANTILE_BINS) / QUANTILE_BINS)
        targets = np.searchsorted(edges, targets, side="right")
    return np.unique(targets, return_inverse=True)[1]


def _lognormal(total: int, num_clients: int, sigma: float, rng: np.random.Generator) -> np.ndarray:
    return apportion(total, lognormal_shares(num_clients, sigma, rng), 1)


def _dirichlet(labels: np.ndarray, sizes: np.ndarray, alpha: float, rng: np.random.Generator) -> list[np.ndarray]:
    pools = [rng.permutation(np.flatnonzero(labels == label)) for label in range(labels.max() + 1)]
    left = np.array([pool.size for pool in pools])
    # Beyond these limits a draw is a single label or p itself, to double precision, but NumPy's sampler breaks down.
    concentration = min(max(alpha, 1e-9), 1e9) * left / labels.size
    parts = []
    for size in sizes:
        proportions = rng.dirichlet(concentration)
        taken = np.zeros_like(left)
        while missing := size - taken.sum():  # each pass takes at least one sample
            open_labels = np.where(left > taken, proportions, 0.0)
            if not open_labels.sum() > 0:  # the client's labels have all run out: draw from what remains
                open_labels = (left - taken).astype(np.float64)
            drawn = rng.multinomial(missing, open_labels / open_labels.sum())
            taken = np.minimum(taken + drawn, left)
        parts.append(np.concatenate([pool[rest - n : rest] for pool, rest, n in zip(pools, left, taken, strict=True)]))
        left = left - taken
    return parts


def _by_label(labels: np.ndarray, num_clients: int, shards: int, rng: np.random.Generator) -> list[np.ndarray]:
    shuffled = rng.permutation(labels.size)
    # shuffled first, so that a stable sort leaves the samples of a label in random order
    by_label = shuffled[np.argsort(labels[shuffled], kind="stable")]
    pieces = np.array_split(by_label, min(num_clients * shards, labels.size))
    order = rng.permutation(len(pieces))
    return [np.concatenate([pieces[i] for i in order[k::num_clients]]) for k in range(num_clients)]


EXPONENT = 2.75  # see `fedconvex.data.client_sizes.power_law_sizes`
FITTING_STEPS = 50


def power_law_labels(
    labels: np.ndarray, num_clients: int, labels_per_client: int, rng: np.random.Generator
) -> list[np.ndarray]:
    """The clients' index sets under `power-law-labels:D`, see `fedconvex.data.partition`.

    Three steps: which client has which labels; how many samples of each of its labels (a table of numbers whose row
    sums follow the power law and whose column sums are the labels' counts); which samples.

    labels: (n,) with values 0 … C − 1, all of which occur, n >= num_clients. labels_per_client: D.
    Raises InvalidInput for D·num_clients < C.
    """
    counts = np.bincount(labels)
    if labels_per_client * num_clients < counts.size:
        problem = f"{num_clients} clients with {labels_per_client} labels each cannot hold all {counts.size} labels"
        least = -(-counts.size // num_clients)
        raise InvalidInput("partition", f"power-law-labels:{labels_per_client}", problem, f"give D >= {least}")
    room = np.minimum(counts, num_clients)  # a label with n samples has at most n holders, each at most once
    places = apportion(min(labels_per_client * num_clients, int(room.sum())), counts / counts.max(), 1, room)
    holds = _assign_labels(places, num_clients, rng)
    least = min(labels_per_client, labels.size // num_clients)
    # every client needs a sample of each of its labels
    sizes = apportion(labels.size, power_law_shares(num_clients, EXPONENT, rng), least)
    wanted = _fit(holds, sizes, counts)
    parts: list[list[np.ndarray]] = [[] for _ in range(num_clients)]
    for label, count in enumerate(counts):
        holders = np.flatnonzero(holds[:, label])
        shares = wanted[holders, label]
        ends = np.cumsum(apportion(int(count), shares / shares.max(), 1))
        shuffled = rng.permutation(np.flatnonzero(labels == label))
        for k, piece in zip(holders, np.split(shuffled, ends[:-1]), strict=True):
            parts[k].append(piece)
    return [np.concatenate(pieces) for pieces in parts]


def _assign_labels(places: np.ndarray, num_clients: int, rng: np.random.Generator) -> np.ndarray:
    """Which client holds which label: a random boolean (num_clients, C) array with column sums `places`.

    Row sums differ by at most 1. Clients choose one after the other, with a preference for labels with many free places
    (the smallest of exponential variables with rates `free`). A label with as many free places as clients remain must
    be chosen by all of them; such labels are never more than a client may choose, so that all places are filled.
    """
    holds = np.zeros((num_clients, places.size), dtype=bool)
    free = places.copy()
    each, extra = divmod(int(places.sum()), num_clients)
    for chosen_before, k in enumerate(rng.permutation(num_clients)):
        arrival = np.where(free > 0, rng.standard_exponential(free.size) / np.maximum(free, 1), np.inf)
        arrival[free == num_clients - chosen_before] = 0
        chosen = np.argsort(arrival)[: each + (chosen_before < extra)]
        holds[k, chosen] = True
        free[chosen] -= 1
    return holds


def _fit(holds: np.ndarray, row_sums: np.ndarray, column_sums: np.ndarray) -> np.ndarray:
    """A matrix, positive where `holds` and 0 elsewhere, with these column sums and approximately these row sums.

    Iterative proportional fitting: it scales rows and columns alternately, columns last.
    """
    fitted = holds.astype(np.float64)
    for _ in range(FITTING_STEPS):
        fitted *= (row_sums / fitted.sum(axis=1))[:, None]
        fitted *= column_sums / fitted.sum(axis=0)
        np.maximum(fitted, 1e-9, out=fitted, where=holds)
    return fitted
