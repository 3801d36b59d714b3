"""The runner against the exact core on convex problems, and against plain PyTorch training on networks."""

from typing import Any

import numpy as np
import pytest
import torch
from deep_makers import (
    CLASSES,
    CLIENTS,
    FEATURES,
    SGD,
    SIZES,
    Plain,
    Wrapped,
    mixed,
    plain_training,
    random,
    refused,
    samples,
    towards,
    vector,
)
from slow_layer import meeting
from torch import nn

import fedconvex as fc
from fedconvex import participation
from fedconvex.deep import models, run
from fedconvex.deep.tasks import LinearTask, NetworkTask

PLAIN = "ignore::fedconvex.errors.PlainAverage"  # with weights of their own and every scheme
pytestmark = [pytest.mark.beyond_core, pytest.mark.filterwarnings(PLAIN)]  # trains networks

DECAYING = fc.SGD(steps=5, batch_size=4, stepsize=0.1, decay=0.9, weight_decay=0.01)
CLIPPED = fc.SGD(epochs=2, batch_size=4, stepsize=0.05, clip=0.3, weight_decay=0.01)
MOMENTUM = fc.SGD(epochs=2, batch_size=4, stepsize=0.05, momentum=0.9)
ALL_OF_IT = fc.SGD(steps=7, batch_size=4, stepsize=0.05, momentum=0.7, decay=0.9, weight_decay=0.01, clip=0.3)
FULL_BATCH = fc.SGD(epochs=3, batch_size=None, stepsize=0.1)
GD = fc.GradientDescent(steps=4, stepsize=0.1)
METHODS = [
    fc.FedAvg(epochs=1, batch_size=4, stepsize=0.05),
    fc.FedGD(stepsize=0.1, local_steps=2),
    fc.FedSGD(stepsize=0.1),
    fc.FedAvgM(stepsize=0.1, local_steps=2),
    fc.FedAdagrad(stepsize=0.1, local_steps=2),
    fc.FedAdam(stepsize=0.1, local_steps=2),
    fc.FedYogi(stepsize=0.1, local_steps=2),
    fc.FedProx(mu=1),
    fc.AdaptiveFedProx(mu=1),
    fc.DANE(mu=1),
    fc.FedDANE(mu=1),
    fc.FedSplit(stepsize=1),
    fc.RegularizedFedSplit(stepsize=1, regularization=0.1),
    fc.FedDyn(alpha=0.5),
    fc.FedDynOneGD(alpha=10),
    fc.Scaffold(stepsize=0.05, local_steps=3),
    fc.FedNova(stepsize=0.05, local_steps=3),
    fc.FedPD(eta=1, skip=0.5),
    fc.FedADMM(rho=1),
    fc.FedLin(stepsize=0.05, local_steps=2),
    fc.Scaffnew(stepsize=0.05, probability=0.5),
    fc.Ditto(stepsize=0.05, local_steps=2, regularization=0.5),
    fc.PFedMe(regularization=2, stepsize=0.25, local_steps=2),
]
SCHEMES = [
    participation.Full(),
    participation.Uniform(2),
    participation.UniformThenWeighted(3),
    participation.Weighted(3),
    participation.Bernoulli(0.6),
    participation.Schedule([[0], [1, 3], [], [0, 1, 2, 3]]),
]
SOLVERS = [None, SGD, DECAYING, CLIPPED, MOMENTUM, ALL_OF_IT, FULL_BATCH, GD]
NEEDS_EVERYONE = (fc.RegularizedFedSplit, fc.FedPD, fc.Scaffnew)


def on_core(method: Any, rounds: int, model: nn.Module, weights: Any = None, **options: Any) -> Any:
    A, y = [X for X, _ in CLIENTS], [y for _, y in CLIENTS]
    problem = fc.MultinomialLogistic(A, y, CLASSES, ridge=0.01, weights=weights)
    weight, bias = model.parameters()
    x0 = torch.cat([weight, bias[:, None]], 1).detach().numpy().ravel()
    return fc.simulate(method, problem, rounds, x0=x0, **options)


def as_parameters(point: np.ndarray) -> np.ndarray:
    matrix = point.reshape(CLASSES, -1)
    return np.concatenate([matrix[:, :-1].ravel(), matrix[:, -1]])


EVERYONE = [method for method in METHODS if isinstance(method, NEEDS_EVERYONE)]
CASES = [
    *meeting([method for method in METHODS if method not in EVERYONE], SCHEMES, SOLVERS),
    *meeting(EVERYONE, SCHEMES[:1], SOLVERS),
]


@pytest.mark.sample(11)
@pytest.mark.parametrize(
    ("method", "scheme", "solver"), CASES, ids=lambda p: str(p) if p in SOLVERS else type(p).__name__
)
def test_a_linear_model_runs_as_in_the_core(method: Any, scheme: Any, solver: Any) -> None:
    """Also where the runner does not see that it is linear, and differentiates it by autograd."""
    options = {"participation": scheme, "local_solver": solver, "seed": 3}
    exact = solver is None and type(method.local_solver).__name__ == "Exact"
    if type(method).__name__ == "FedNova" and solver is None:
        options["local_solver"] = GD
    for model in (random(nn.Linear(FEATURES, CLASSES)), random(Plain())):
        if exact and isinstance(model, Plain):
            continue  # a network's subproblems have no exact solutions
        core = on_core(method, 4, model, [1, 2, 3, 4], **options)
        ours = run(method, model, CLIENTS, rounds=4, weights=[1, 2, 3, 4], ridge=0.01, **options)
        np.testing.assert_allclose(vector(ours.model), as_parameters(core.points[-1]), rtol=1e-12, atol=1e-13)
        frame, theirs = ours.to_frame(), core.to_frame(["value"])
        np.testing.assert_allclose(frame["value"], theirs["value"], rtol=1e-13)
        np.testing.assert_array_equal(frame[["participants", "bytes_up"]], theirs[["participants", "bytes_up"]])


def test_two_classes_run_as_in_the_core() -> None:
    clients = [(X, 2 * (y > 0) - 1) for X, y in CLIENTS]
    model = random(nn.Linear(FEATURES, 1))
    problem = fc.Logistic(
        [np.column_stack([X, np.ones(len(X))]) for X, _ in clients], [y for _, y in clients], ridge=0.1
    )
    x0 = vector(model)
    for solver in (SGD, GD, fc.Exact()):
        core = fc.simulate(fc.FedDyn(alpha=0.5), problem, 3, local_solver=solver, x0=x0)
        ours = run(fc.FedDyn(alpha=0.5), model, clients, "logistic", 3, local_solver=solver, ridge=0.1)
        np.testing.assert_allclose(vector(ours.model), core.points[-1], rtol=1e-12)
        wrapped = Wrapped(model)
        if solver != fc.Exact():
            again = run(fc.FedDyn(alpha=0.5), wrapped, clients, "logistic", 3, local_solver=solver, ridge=0.1)
            np.testing.assert_allclose(vector(again.model), core.points[-1], rtol=1e-12)


# ---- networks, against plain training ----

NETWORK = models.fully_connected([FEATURES, 5, 4, CLASSES])


def everyones_training(model: nn.Module, solver: fc.SGD, round: int, **options: Any) -> list[nn.Module]:
    return [plain_training(model, CLIENTS, k, solver, 3, round, solver.effort, **options) for k in range(len(CLIENTS))]


def distance(first: nn.Module, second: nn.Module) -> float:
    return float(np.abs(vector(first) - vector(second)).max())


@pytest.mark.sample(1)
@pytest.mark.parametrize(
    ("by", "solver", "ridge"),
    meeting(["hand", "autograd"], [SGD, DECAYING, CLIPPED, MOMENTUM, ALL_OF_IT, FULL_BATCH], [0.0, 0.1]),
)
def test_fedavg_is_plain_training_and_averaging(by: str, solver: fc.SGD, ridge: float) -> None:
    model = random(NETWORK)
    expected = model
    for t in range(3):
        expected = mixed(everyones_training(expected, solver, t, ridge=ridge), list(SIZES))
    given = model if by == "hand" else Wrapped(model)
    method = fc.FedAvg(epochs=1, batch_size=4, stepsize=1)
    found = run(method, given, CLIENTS, rounds=3, local_solver=solver, weights="samples", seed=3, ridge=ridge)
    assert distance(found.model, expected) < 1e-12
    unweighted = run(method, given, CLIENTS, rounds=3, local_solver=solver, seed=3, ridge=ridge)
    assert distance(unweighted.model, expected) > 1e-4


@pytest.mark.sample(1)
@pytest.mark.parametrize("by", ["hand", "autograd"])
@pytest.mark.parametrize("solver", [SGD, CLIPPED, MOMENTUM], ids=str)
def test_fedprox_is_plain_training_with_a_proximal_term(by: str, solver: fc.SGD) -> None:
    model = random(NETWORK)
    expected = model
    for t in range(3):
        expected = mixed(everyones_training(expected, solver, t, extra=towards(expected, 2.0)), [1] * len(SIZES))
    given = model if by == "hand" else Wrapped(model)
    found = run(fc.FedProx(mu=2), given, CLIENTS, rounds=3, local_solver=solver, seed=3)
    assert distance(found.model, expected) < 1e-12
    for wrong in (fc.FedProx(mu=0), fc.FedProx(mu=2.01)):
        assert distance(run(wrong, given, CLIENTS, rounds=3, local_solver=solver, seed=3).model, expected) > 1e-5


@pytest.mark.sample(1)
@pytest.mark.parametrize("by", ["hand", "autograd"])
@pytest.mark.parametrize("solver", [SGD, MOMENTUM], ids=str)
def test_feddyn_is_plain_training_with_its_terms(by: str, solver: fc.SGD) -> None:
    """Algorithm 1: the device's ∇L_k(θ_k) in the linear term, the server's h; with unequal participation."""
    alpha, rows = 0.7, [[0, 2], [1, 2, 3], [0, 3]]
    model = random(NETWORK)
    flat = torch.as_tensor(vector(model))
    server, h = flat, 0 * flat
    gradient = [0 * flat for _ in CLIENTS]
    layout = [p.shape for p in model.parameters()]

    def load(theta: torch.Tensor) -> nn.Module:
        result, begin = random(models.fully_connected([FEATURES, 5, 4, CLASSES])), 0
        for p, shape in zip(result.parameters(), layout, strict=True):
            p.data = theta[begin : begin + shape.numel()].reshape(shape).clone()
            begin += shape.numel()
        return result

    for t, active in enumerate(rows):
        answers = {}
        for k in active:

            def extra(local: nn.Module, k: int = k, server: torch.Tensor = server) -> torch.Tensor:
                theta = torch.cat([p.reshape(-1) for p in local.parameters()])
                return -gradient[k] @ theta + alpha / 2 * ((theta - server) ** 2).sum()

            answers[k] = torch.as_tensor(vector(plain_training(load(server), CLIENTS, k, solver, 3, t, 2, extra)))
        for k, theta in answers.items():
            gradient[k] = gradient[k] - alpha * (theta - server)
        h = h - alpha / len(CLIENTS) * sum(theta - server for theta in answers.values())
        server = sum(answers.values()) / len(active) - h / alpha
    given = model if by == "hand" else Wrapped(model)
    scheme = participation.Schedule(rows)
    found = run(fc.FedDyn(alpha=alpha), given, CLIENTS, rounds=3, participation=scheme, local_solver=solver, seed=3)
    np.testing.assert_allclose(vector(found.model), server.numpy(), atol=1e-12)
    assert np.abs(vector(found.model) - vector(load(server + 0.001 * h))).max() > 1e-6


@pytest.mark.sample(1)
@pytest.mark.parametrize("momentum", [0, 0.9])
@pytest.mark.parametrize("clip", [None, 0.3])
@pytest.mark.parametrize("by", ["hand", "autograd"])
def test_stragglers_do_their_part_exactly(
    momentum: float, clip: float | None, by: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All clients step together, and those that have finished stay where they are."""
    monkeypatch.setattr("fedconvex.deep.memory.CACHE", 2**30)
    late, model = participation.Stragglers(0.75), random(NETWORK)
    solver = fc.SGD(epochs=5, batch_size=4, stepsize=0.05, momentum=momentum, clip=clip)
    draw = late.slow(participation.Full().draw(None, 3, 0), len(CLIENTS), solver.effort)
    assert len(set(draw.efforts)) > 1
    expected = mixed(
        [plain_training(model, CLIENTS, k, solver, 3, 0, int(draw.efforts[k])) for k in range(len(CLIENTS))],
        list(SIZES),
    )
    method = fc.FedProx(mu=0)
    options = {"rounds": 1, "local_solver": solver, "weights": "samples", "seed": 3}
    given = model if by == "hand" else Wrapped(model)
    assert distance(run(method, given, CLIENTS, stragglers=late, **options).model, expected) < 1e-12
    assert distance(run(method, given, CLIENTS, **options).model, expected) > 1e-5


def test_value_and_accuracy() -> None:
    model, test = random(NETWORK), samples(9, (20,))[0]
    result = run(
        fc.FedProx(mu=1), model, CLIENTS, rounds=2, local_solver=SGD, ridge=0.1, weights=[1, 2, 3, 4], test=test
    )
    frame = result.to_frame()
    assert list(frame["round"]) == [0, 1, 2]
    for row, at in ((0, model), (2, result.model)):
        X, y = (torch.as_tensor(np.concatenate([c[i] for c in CLIENTS])) for i in (0, 1))
        losses = [nn.functional.cross_entropy(at(torch.as_tensor(a)), torch.as_tensor(b)).item() for a, b in CLIENTS]
        value = np.average(losses, weights=[1, 2, 3, 4]) + 0.05 * float((vector(at) ** 2).sum())
        assert frame["value"][row] == pytest.approx(value, rel=1e-12)
        assert frame["accuracy"][row] == pytest.approx((at(X).argmax(1) == y).double().mean().item())
        tested = nn.functional.cross_entropy(at(torch.as_tensor(test[0])), torch.as_tensor(test[1]))
        assert frame["test_value"][row] == pytest.approx(tested.item(), rel=1e-12)


def test_the_model_that_was_given_stays_as_it_was() -> None:
    model = random(NETWORK)
    before = vector(model)
    run(fc.FedProx(mu=1), model, CLIENTS, rounds=1, local_solver=SGD)
    np.testing.assert_array_equal(vector(model), before)


def test_linear_models_in_float32_are_computed_in_float64() -> None:
    model = random(nn.Linear(FEATURES, CLASSES))
    single = run(fc.FedProx(mu=1), model.float(), CLIENTS, rounds=3, local_solver=SGD, dtype="float32")
    double = run(fc.FedProx(mu=1), model.double(), CLIENTS, rounds=3, local_solver=SGD)
    assert next(single.model.parameters()).dtype == torch.float32
    assert distance(single.model, double.model) < 1e-6


def test_float32_is_float32() -> None:
    model = random(NETWORK)
    in_double = run(fc.FedProx(mu=1), model, CLIENTS, rounds=2, local_solver=SGD)
    single = run(fc.FedProx(mu=1), model, CLIENTS, rounds=2, local_solver=SGD, dtype="float32")
    assert single.state.server.dtype == torch.float32
    assert 1e-9 < distance(in_double.model, single.model) < 1e-5
    assert single.to_frame()["bytes_up"][1] * 2 == in_double.to_frame()["bytes_up"][1]


def test_bf16_has_fewer_digits_and_trains_all_the_same() -> None:
    model, options = random(NETWORK).float(), {"rounds": 3, "local_solver": SGD, "dtype": "float32"}
    full = run(fc.FedProx(mu=1), model, CLIENTS, **options)
    fewer = run(fc.FedProx(mu=1), model, CLIENTS, precision="bf16", **options)
    assert fewer.state.server.dtype == torch.float32
    assert 1e-5 < distance(full.model, fewer.model) < 1e-2
    tf32 = run(fc.FedProx(mu=1), model, CLIENTS, precision="tf32", **options)
    assert distance(full.model, tf32.model) < 1e-6  # a CPU has no TF32


def flags() -> tuple[str, bool, bool]:
    """In how many digits a GPU would compute float32 products and convolutions, and whether twice the same."""
    cudnn = torch.backends.cudnn
    return torch.get_float32_matmul_precision(), cudnn.allow_tf32, cudnn.deterministic


class Recording(Plain):
    """Notes the flags in local work, and in evaluations."""

    def __init__(self) -> None:
        super().__init__()
        self.seen: dict[bool, set[tuple[str, bool, bool]]] = {True: set(), False: set()}

    def __deepcopy__(self, memo: Any) -> "Recording":
        made = Recording().to(self.weight.dtype)
        made.load_state_dict(self.state_dict())
        made.seen = self.seen
        return made

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        self.seen[torch.is_grad_enabled()].add(flags())
        return super().forward(x)


@pytest.mark.parametrize(
    ("precision", "local"),
    [("full", ("highest", False, True)), ("tf32", ("high", True, True)), ("bf16", ("highest", False, True))],
)
def test_gpus_compute_in_the_digits_that_were_asked_for(precision: str, local: tuple[str, bool, bool]) -> None:
    before, model = flags(), Recording().float()
    run(fc.FedProx(mu=1), model, CLIENTS, local_solver=SGD, dtype="float32", precision=precision, test=CLIENTS[0])
    assert model.seen[True] == {local}
    assert ("highest", False, True) in model.seen[False]
    assert model.seen[False] <= {("highest", False, True), local}  # `local` where the model is tried on its samples
    assert flags() == before


@pytest.mark.parametrize("measure", ["inexactness", "drift", "all"])
def test_rounds_are_measured(measure: str) -> None:
    frame = run(fc.FedProx(mu=1), random(NETWORK), CLIENTS, rounds=2, local_solver=SGD, measure=measure).to_frame()
    for name in ("inexactness", "drift"):
        assert (name in frame) == (measure in (name, "all"))
        if name in frame:
            assert frame[name][1:].gt(0).all()


@pytest.mark.parametrize("kind", [np.uint8, np.int32, np.int64, bool])
def test_whole_numbers_are_numbers_where_the_model_takes_no_tokens(kind: Any) -> None:
    rng = np.random.default_rng(0)
    whole = [(rng.integers(0, 2, (9, FEATURES)).astype(kind), rng.integers(0, CLASSES, 9)) for _ in range(3)]
    floats = [(X.astype(float), y) for X, y in whole]
    for model in (random(NETWORK), random(nn.Linear(FEATURES, CLASSES))):
        options = {"rounds": 2, "local_solver": SGD, "ridge": 0.1, "test": None}
        expected = run(fc.FedProx(mu=1), model, floats, **options | {"test": floats[0]})
        found = run(fc.FedProx(mu=1), model, whole, **options | {"test": whole[0]})
        np.testing.assert_array_equal(vector(found.model), vector(expected.model))


def test_token_numbers_stay_whole() -> None:
    rng = np.random.default_rng(0)
    clients = [(rng.integers(0, 11, (9, 5)), rng.integers(0, 11, 9)) for _ in range(3)]
    model = random(models.character_lstm(11, 3, 4, 1))
    found = run(fc.FedAvg(epochs=1, batch_size=4, stepsize=0.1), model, clients, rounds=2, test=clients[0])
    assert not found.task.shards.inputs.is_floating_point()
    expected = model
    for t in range(2):
        solver = fc.SGD(epochs=1, batch_size=4, stepsize=0.1)
        expected = mixed([plain_training(expected, clients, k, solver, 0, t, 1) for k in range(3)], [1, 1, 1])
    assert distance(found.model, expected) < 1e-12


def test_no_rounds() -> None:
    found = run(fc.FedProx(mu=1), NETWORK, CLIENTS, rounds=0, local_solver=SGD, measure="all")
    assert len(found.to_frame()) == 1
    assert found.bounds().empty
    np.testing.assert_array_equal(vector(found.model), vector(NETWORK))


def test_what_runs_as_what() -> None:
    from fedconvex.deep.losses import loss_of
    from fedconvex.deep.tasks import task_of

    def kind(model: nn.Module, loss: Any = "cross_entropy", dtype: torch.dtype = torch.float64) -> tuple[type, str]:
        task = task_of(model, CLIENTS, loss_of(loss), None, 0, torch.device("cpu"), dtype)
        return type(task), task.arithmetic.name

    assert kind(nn.Linear(FEATURES, CLASSES)) == (LinearTask, "float")
    assert kind(nn.Linear(FEATURES, CLASSES), dtype=torch.float32) == (LinearTask, "float")
    assert kind(models.logistic_regression(FEATURES, CLASSES)) == (LinearTask, "float")
    assert kind(nn.Linear(FEATURES, CLASSES, bias=False)) == (NetworkTask, "torch")
    assert kind(nn.Linear(FEATURES, 1), "half_square") == (NetworkTask, "torch")
    assert kind(NETWORK) == (NetworkTask, "torch")


# ---- bad input ----


@pytest.mark.parametrize(
    ("options", "culprit"),
    [
        ({"method": "FedAvg"}, "method"),
        ({"model": "mlp"}, "model"),
        ({"model": nn.Linear(5, 3)}, "model"),
        ({"model": nn.Linear(FEATURES, 2)}, "class 2"),
        ({"model": nn.Sequential(nn.Linear(FEATURES, 3), nn.BatchNorm1d(3))}, "GroupNorm"),
        ({"model": nn.Conv2d(1, 1, 1)}, "model"),
        ({"clients": []}, "clients"),
        ({"clients": [CLIENTS[0], 5]}, r"clients\[1\]"),
        ({"clients": [CLIENTS[0], (np.zeros((0, FEATURES)), np.zeros(0))]}, "has no samples"),
        ({"clients": [CLIENTS[0], (np.zeros((4, FEATURES)), np.zeros(3))]}, r"clients\[1\]\[1\]"),
        ({"clients": [CLIENTS[0], (np.zeros((4, 5)), np.zeros(4))]}, r"clients\[1\]\[0\]"),
        ({"clients": [CLIENTS[0], (np.full((4, FEATURES), np.nan), np.zeros(4))]}, "finite"),
        ({"clients": [CLIENTS[0], (np.zeros((4, FEATURES)), np.full(4, 0.5))]}, "class numbers"),
        ({"clients": [CLIENTS[0], (np.zeros((4, FEATURES)), np.full(4, -1))]}, "class numbers"),
        ({"clients": [(np.array(["a"]), np.zeros(1))]}, "not an array of numbers"),
        ({"loss": "hinge"}, "loss"),
        ({"loss": "logistic"}, "−1 or \\+1"),
        ({"loss": "half_square"}, "half_square takes 1"),
        ({"rounds": -1}, "rounds"),
        ({"weights": [1, 2]}, "weights"),
        ({"weights": [0, 0, 0, 0]}, "weights"),
        ({"ridge": -1}, "ridge"),
        ({"dtype": "float16"}, "dtype"),
        ({"dtype": torch.int64}, "dtype"),
        ({"precision": "fp8"}, "precision"),
        ({"precision": "bf16"}, "requires float32"),
        ({"device": "gpu"}, "device"),
        ({"device": "meta"}, "device"),
        ({"participation": participation.Uniform(9)}, "K"),
        ({"local_solver": fc.Exact()}, "local_solver"),
        ({"local_solver": "sgd"}, "local_solver"),
        ({"measure": "loss"}, "measure"),
        ({"test": (np.zeros((3, 5)), np.zeros(3))}, "does not take samples of shape"),
        ({"test": (np.zeros((3, FEATURES)), np.full(3, 7))}, "class 7"),
        ({"test": 5}, "test"),
    ],
)
def test_bad_input(options: dict[str, Any], culprit: str) -> None:
    refused(culprit, **options)


def test_a_gpu_that_is_not_there_is_refused() -> None:
    if torch.cuda.is_available():
        pytest.skip("there is a GPU")
    refused("finds no GPU", device="cuda")
    run(fc.FedProx(mu=1), NETWORK, CLIENTS, rounds=1, local_solver=SGD, device="auto")
