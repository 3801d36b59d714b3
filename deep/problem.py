"""A network with the clients' samples as a `Problem` of the core, so that every method and scheme runs on it."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING, Any, NoReturn, final

import numpy as np
import torch
from torch import Tensor
from torch.nn.attention import SDPBackend, sdpa_kernel

from fedconvex.arithmetic.base import Arithmetic
from fedconvex.arithmetic.base import Batch as Matrices
from fedconvex.arithmetic.rationals import Scalar
from fedconvex.deep.memory import Budget, numbers_of_sample
from fedconvex.deep.networks import Batch, Network
from fedconvex.deep.shards import Shards
from fedconvex.deep.training_mode import TrainingMode
from fedconvex.errors import InvalidInput
from fedconvex.methods.base import State
from fedconvex.problems.base import Clients, Problem, Subproblem
from fedconvex.problems.linear_models import size_groups
from fedconvex.problems.samples import Samples

if TYPE_CHECKING:
    from fedconvex.problems.local_sgd import Descent


@final
@dataclass(frozen=True, eq=False)
class NetworkProblem(Problem):
    """f_k(θ) = (1/n_k) Σ_i loss(network_θ(x_i), y_i) + (ridge/2)‖θ‖²; θ holds the trainable parameters in order."""

    network: Network
    shards: Shards
    ridge: Fraction
    exact_weights: tuple[Fraction, ...]
    owned: np.ndarray | None = None  # the clients of this process; None: all
    has_samples = True
    budget: Budget = field(default_factory=Budget)
    training: TrainingMode | None = None  # None: local steps are on f_k, in evaluation mode

    def __repr__(self) -> str:
        return f"NetworkProblem(m={self.num_clients}, d={self.dim}, samples={self.shards.count.sum()})"

    @property
    def dim(self) -> int:
        return self.network.layout.dim

    @property
    def is_convex(self) -> bool:
        """False: no convexity is known of a network."""
        return False

    @property
    def L(self) -> np.ndarray:
        return _unknown()

    @property
    def mu(self) -> np.ndarray:
        return _unknown()

    def smoothness_bound(self, k: int) -> Scalar:
        _unknown()

    def strong_convexity_bound(self, k: int) -> Scalar:
        _unknown()

    def build_clients(self, arithmetic: Arithmetic, scale: Sequence[Fraction]) -> Clients:
        if arithmetic.name != "torch":
            raise InvalidInput("arithmetic", arithmetic.name, "does not run networks", "use fedconvex.deep.run")
        owned = np.arange(self.num_clients) if self.owned is None else self.owned
        factors = arithmetic.array(np.array(scale, dtype=object)[owned])
        return NetworkClients(arithmetic, self, factors, np.arange(len(owned)))


def budget_of(problem: Problem) -> Budget | None:
    """The memory budget of a network's problem; None for the core's own problems, which do not compute in batches."""
    return problem.budget if isinstance(problem, NetworkProblem) else None


def training_of(problem: Problem) -> TrainingMode | None:
    """How local steps are taken in training mode; None: they are on the objective."""
    return problem.training if isinstance(problem, NetworkProblem) else None


def used(state: State, problem: Problem) -> State:
    """The state as the method knows it, after local steps in training mode were told to start from its buffers."""
    training = training_of(problem)
    return state if training is None else training.use(state)


def _unknown() -> NoReturn:
    cure = "give SGD(…) or GradientDescent(…)"
    raise InvalidInput("local_solver", "the one given", "needs curvatures, which are unknown for networks", cure)


@final
class NetworkClients(Clients):
    """The functions F_k = scale_k · f_k of some clients, evaluated with torch."""

    def __init__(self, arithmetic: Arithmetic, problem: NetworkProblem, scale: Tensor, members: np.ndarray) -> None:
        self.arithmetic, self.problem, self.scale, self.members = arithmetic, problem, scale, members
        self.num_clients, self.dim = len(members), problem.dim
        self.network, self.ridge = problem.network, arithmetic.scalar(problem.ridge)

    def subset(self, members: np.ndarray) -> "NetworkClients":
        chosen = NetworkClients(self.arithmetic, self.problem, self.scale[members], self.members[members])
        chosen.curvatures = self.curvatures.subset(members)
        return chosen

    def rows(self, X: Tensor) -> Tensor:
        return X.expand(self.num_clients, -1) if X.ndim == 1 else X  # a view: all rows share memory

    def values(self, X: Tensor) -> Tensor:
        result = self.scale.new_empty(self.num_clients)
        with torch.no_grad():
            for group, batches in self._groups(X):
                theta = _rows_of(X, group)
                # The shares are 1/n_k, and 0 for padding: this is the mean over the client's samples.
                losses = sum((self.network.losses(theta, batch) * batch.shares).sum(-1) for batch in batches)
                # Without a ridge, a finite loss stays one where ‖θ‖² overflows.
                result[group] = losses + self.ridge / 2 * (theta * theta).sum(-1) if self.ridge else losses
        return self.scale * result

    def differences(self, X: Tensor, reference: Tensor) -> Tensor:
        """F_k(X) − F_k(reference), with cancellation: unlike quadratics, networks have no formula for it."""
        return self.values(X) - self.values(reference)

    def gradients(self, X: Tensor) -> Tensor:
        result = self.scale.new_empty(self.num_clients, self.dim)
        for group, gradients in self.gradients_in_parts(X):
            result[group] = gradients
        return result

    def gradients_in_parts(self, X: Tensor) -> Iterator[tuple[np.ndarray, Tensor]]:
        for group, batches in self._groups(X):
            theta = _rows_of(X, group)
            with torch.no_grad():
                gradients = self.ridge * theta + sum(self.network.gradients(theta, batch) for batch in batches)
            yield group, self.scale[group][:, None] * gradients

    def hessian_products(self, X: Tensor, V: Tensor) -> Tensor:
        V, result = self.rows(V), self.scale.new_empty(self.num_clients, self.dim)
        for group, batches in self._groups(X):
            direction = V[group]
            result[group] = self.ridge * direction
            for batch in batches:
                # Differentiate the gradient along the direction: a Hessian-vector product costs about two gradients.
                with torch.enable_grad(), sdpa_kernel(SDPBackend.MATH):  # fused attention has no second derivative
                    theta = _rows_of(X, group).expand(len(group), -1).detach().clone().requires_grad_()
                    total = (self.network.losses(theta, batch) * batch.shares).sum()
                    (gradient,) = torch.autograd.grad(total, theta, create_graph=True)
                    if not gradient.requires_grad:  # the losses are affine in the parameters
                        continue
                    (product,) = torch.autograd.grad(gradient, theta, direction, materialize_grads=True)
                result[group] += product
        return self.scale[:, None] * result

    def hessians(self, X: Tensor) -> Matrices:
        _unknown()

    def minimise(self, subproblem: Subproblem) -> Tensor:
        _unknown()

    def samples(self) -> "NetworkSamples":
        return NetworkSamples(self)

    def _groups(self, X: Tensor) -> Iterator[tuple[np.ndarray, Iterator[Batch]]]:
        """Clients with similar numbers of samples (little padding), as many as the budget allows, and their samples.

        The samples of clients that are too large even alone come in several batches, whose sums are the clients'.
        """
        counts = self.problem.shards.count[self.members]
        budget, of_sample = self.problem.budget, self._numbers_of_sample(X) if len(counts) else 0
        for group in size_groups(counts.tolist()) if len(counts) else []:
            most = int(counts[group].max())
            at_once = budget.samples(X.device, self.dim + most * of_sample)
            width = most if at_once > 1 else min(most, budget.samples(X.device, of_sample))
            for begin in range(0, len(group), at_once):
                yield (part := np.array(group[begin : begin + at_once])), self._batches(part, width)

    def _batches(self, group: np.ndarray, width: int) -> Iterator[Batch]:
        members = self.members[group]
        for begin in range(0, int(self.problem.shards.count[members].max()), width):
            yield self.problem.shards.whole(members, slice(begin, begin + width))

    def _numbers_of_sample(self, X: Tensor) -> int:
        """The numbers that a gradient makes of each sample; measured once, on a few samples."""
        known, shards = self.problem.budget.of_sample, self.problem.shards
        if "gradient" not in known:
            theta, rows = (X if X.ndim == 1 else X[0])[None], np.arange(6)[None] % len(shards.targets)

            def gradient(samples: int) -> Tensor:
                batch = shards.batch(rows[:, :samples], self.scale.new_ones(1, samples))
                return self.network.gradients(theta, batch)

            known["gradient"] = shards.numbers_per_sample + numbers_of_sample(gradient, X.element_size())
        return known["gradient"]


def _rows_of(X: Tensor, group: np.ndarray) -> Tensor:
    """The rows of a batch of clients; one row for all where X is a single point."""
    return X[None] if X.ndim == 1 else X[group]


@final
class NetworkSamples(Samples):
    """The clients' samples, of which local SGD takes mini-batches."""

    def __init__(self, clients: NetworkClients) -> None:
        self.clients, self.arithmetic = clients, clients.arithmetic
        self.first, self.count = (
            part[clients.members] for part in (clients.problem.shards.first, clients.problem.shards.count)
        )

    def subset(self, members: np.ndarray) -> "NetworkSamples":
        return self.clients.subset(members).samples()

    def gradients(self, clients: np.ndarray, X: Tensor, rows: np.ndarray, shares: Tensor) -> Tensor:
        batch = self.clients.problem.shards.batch(rows, shares)
        with torch.no_grad():
            result = self.clients.network.gradients(X, batch) + self.clients.ridge * X
        scaled: Tensor = self.clients.scale[clients][:, None] * result
        return scaled

    def descend(self, descent: "Descent") -> Any:
        from fedconvex.deep.local_sgd import descend

        return descend(self.clients, descent)
