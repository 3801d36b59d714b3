"""What is unusual about federated data, in a sentence each: nothing is wrong, but methods show it."""

from collections.abc import Iterator

import numpy as np

from fedconvex.data.federated import FederatedData
from fedconvex.sparse import is_sparse

SHOWN = 5  # names in a sentence


def peculiarities(data: FederatedData) -> tuple[str, ...]:
    """Sentences on constant columns, more unknowns than samples, and clients with one class or one sample."""
    return tuple(_sentences(data))


def _sentences(data: FederatedData) -> Iterator[str]:
    if constant := _constant(data):
        shown = ", ".join(repr(name) for name in constant[:SHOWN])
        more = f" and {len(constant) - SHOWN} more" if len(constant) > SHOWN else ""
        it = "it" if len(constant) == 1 else "them"
        subject = f"the feature {shown} is" if len(constant) == 1 else f"the features {shown}{more} are"
        yield f"{subject} the same in every row, as the intercept is: leaving {it} out changes no prediction"
    first = data.targets[0][0]
    if data.num_samples > 1 and all((targets == first).all() for targets in data.targets):
        value = data.targets[0].tolist()[0]
        same = f"the target {data.target_name!r} is {value!r} in every row"
        yield f"{same}: there is nothing to predict; name another column"
    if data.num_features >= data.num_samples:
        yield (
            f"{data.num_features:,} features, {data.num_samples:,} samples: more unknowns than samples, so that only a "
            "ridge makes the minimiser unique"
        )
    if data.num_clients == 1:
        yield "there is one client only: nothing is federated"
    single = int(np.count_nonzero(data.sizes == 1))
    if single:
        yield f"{single:,} of {data.num_clients:,} clients have one sample only"
    if data.task != "regression":
        alone = [
            name
            for name, targets, size in zip(data.client_names, data.targets, data.sizes, strict=True)
            if size > 1 and (targets == targets[0]).all()
        ]
        if alone:
            shown = ", ".join(repr(name) for name in alone[:SHOWN]) + ("…" if len(alone) > SHOWN else "")
            yield f"{len(alone):,} of {data.num_clients:,} clients have samples of one class only ({shown})"


def _constant(data: FederatedData) -> list[str]:
    """The features that are the same everywhere; not looked for in sparse data, where many are 0."""
    if any(map(is_sparse, data.features)):
        return []
    first = data.features[0][0]
    same = np.all([(array == first).all(axis=0) for array in data.features], axis=0)
    return [data.feature_names[j] for j in np.flatnonzero(same).tolist()] if data.num_samples > 1 else []
