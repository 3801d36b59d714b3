"""A method's state as vectors with names: the server's, and the clients' memories, of all clients or group by group."""

from dataclasses import dataclass
from typing import Any, final

from fedconvex.arithmetic.rationals import to_fmpq
from fedconvex.local_solvers.base import LocalSolver
from fedconvex.local_solvers.unequal_steps import UnequalSteps
from fedconvex.methods.base import Method, State
from fedconvex.proofs_checks.worst_cases.programs.quadratic_forms import (
    DEVIATION,
    ONE,
    Mixture,
    family,
    of_group,
    shared,
)
from fedconvex.proofs_checks.worst_cases.questions.function_classes import ClientGroups, FunctionClass
from fedconvex.proofs_checks.worst_cases.questions.symbolic_rounds import own_start


@final
@dataclass(frozen=True)
class Groups:
    """Clients that take equally many local steps: for each group its share in averages, its part, and words for it.

    `deviates`: whether it has more than one client.
    """

    shares: tuple[Any, ...]
    parts: tuple[str, ...]  # of the deviations
    words: tuple[str, ...]
    deviates: tuple[bool, ...]

    @property
    def numbers(self) -> list[int | None]:
        """What `of_group` takes: the groups, or None where all clients are alike."""
        return [*range(len(self.shares))] if len(self.shares) > 1 else [None]


EVERYONE = Groups((ONE,), (DEVIATION,), ("",), (True,))  # several clients that are all alike


def groups_of(functions: FunctionClass, solver: LocalSolver, clients: int) -> Groups:
    """The groups in which clients are alike: those of unequal numbers of steps, or all."""
    if not isinstance(functions, ClientGroups):
        return Groups((ONE,), (DEVIATION,), ("",), (clients > 1,))
    assert isinstance(solver, UnequalSteps)
    words = [f" ({count} step{'s' * (count > 1)})" for count in solver.steps]
    if len(set(words)) < len(words):
        words = [f"{one[:-1]}, group {k + 1})" for k, one in enumerate(words)]
    parts = [f"{DEVIATION} {k}" for k in range(len(words))]
    shares = map(to_fmpq, functions.shares)
    return Groups(tuple(shares), tuple(parts), tuple(words), tuple(group.clients != 1 for group in functions.groups))


def any_vectors(method: Method, groups: Groups) -> dict[str, Any]:
    """Unknown vectors in the place of a state's."""
    first = own_start(method)
    begun = {name: shared(name) for name in ("server", *map(name_at_server, first.shared))}
    for memory in map(name_of_memory, first.memory):
        for part, words, deviates in zip(groups.parts, groups.words, groups.deviates, strict=True):
            begun[memory + words] = family(memory + words, 1 + deviates, part)
    return begun


def name_at_server(name: str) -> str:
    """The name of one of the server's other vectors, in words."""
    return f"server's {name}"


def name_of_memory(name: str) -> str:
    """The name of a vector in the clients' memories, in words."""
    return f"{name}_k"


def vectors_of(state: State, groups: Groups | None = None) -> dict[str, Any]:
    """All vectors of a state by name; with groups, each group's memories."""
    memory = {name_of_memory(name): u for name, u in state.memory.items()}
    if groups is not None:
        each = list(zip(groups.words, groups.numbers, strict=True))
        memory = {name + words: of_group(u, k) for name, u in memory.items() for words, k in each}
    return {"server": state.server, **{name_at_server(name): u for name, u in state.shared.items()}, **memory}


def state_of(method: Method, vectors: dict[str, Any], groups: Groups | None = None) -> State:
    """The state with these vectors."""
    first = own_start(method)

    def memory(name: str) -> Any:
        if groups is None or len(groups.shares) == 1:
            return vectors[name]
        return Mixture(groups.shares, tuple(vectors[name + words] for words in groups.words))

    return State(
        vectors["server"],
        {name: vectors[name_at_server(name)] for name in first.shared},
        {name: memory(name_of_memory(name)) for name in first.memory},
    )
