"""FedAvg in FedJAX: its own algorithm, model, optimisers and client data sets; `jax.jit` for each client's steps.

FedJAX fills an epoch's last batch from the next epoch, so that a client of n samples takes ⌈20 n/10⌉ steps.

    python -m peers.fedjax task.npz
"""

import sys
import time

import fedjax
import jax
import jax.numpy as jnp
from jax.example_libraries import stax
from peers.task import load, report


def main() -> None:
    """Run the task and report."""
    task = load(sys.argv[1])
    data = fedjax.InMemoryFederatedData(
        {k: {"x": X.astype("float32"), "y": y} for k, (X, y) in enumerate(task.clients)}
    )
    init, apply = stax.serial(stax.Dense(task.classes))
    model = fedjax.create_model_from_stax(
        init,
        apply,
        sample_shape=(-1, task.features),
        train_loss=lambda batch, scores: fedjax.metrics.unreduced_cross_entropy_loss(batch["y"], scores),
    )
    algorithm = fedjax.algorithms.fed_avg.federated_averaging(
        fedjax.model_grad(model),
        fedjax.optimizers.sgd(task.stepsize),
        fedjax.optimizers.sgd(1.0),
        fedjax.ShuffleRepeatBatchHParams(batch_size=task.batch_size, num_epochs=task.epochs),
    )
    state = algorithm.init(jax.tree_util.tree_map(jnp.zeros_like, model.init(jax.random.PRNGKey(0))))
    ends = [time.perf_counter()]
    for t, members in enumerate(task.schedule):
        keys = jax.random.split(jax.random.PRNGKey(t), len(members))
        clients = [(k, data.get_client(k), key) for k, key in zip(members, keys, strict=True)]
        state, _ = algorithm.apply(state, clients)
        jax.block_until_ready(state.params)
        ends.append(time.perf_counter())
    ((weight, bias),) = state.params
    size = [len(y) for _, y in task.clients]
    steps = [sum(-(-task.epochs * size[k] // task.batch_size) for k in members) for members in task.schedule]
    report(task, ends, weight.T, bias, ("fedjax", "jax"), steps)


if __name__ == "__main__":
    main()
