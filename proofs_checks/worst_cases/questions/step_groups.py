"""Clients with unequal numbers of local steps, as groups of clients that take equally many."""

from typing import Any

from fedconvex.errors import InvalidInput
from fedconvex.proofs_checks.worst_cases.questions.function_classes import (
    ClientGroup,
    ClientGroups,
    FunctionClass,
    SimilarClients,
)


def groups_by_steps(
    clients: FunctionClass, steps: tuple[int, ...], num_clients: Any
) -> tuple[ClientGroups, tuple[int, ...]]:
    """The clients as groups, and every group's number of steps, the smallest first.

    `steps` has one number for each of `num_clients` clients; for "any" number one for each of equally many clients; for
    `ClientGroups`, whose order stays, one for each group. Raises InvalidInput.
    """
    if isinstance(clients, SimilarClients):
        raise InvalidInput("local_steps", steps, "differ between clients, which is not analysed for similar clients",
                           "give one number for all clients, or another class")  # fmt: skip
    if isinstance(clients, ClientGroups):
        if len(steps) != len(clients.groups):
            raise InvalidInput("local_steps", steps, f"has {len(steps)} numbers for {len(clients.groups)} groups of "
                               "clients", "give one number for every group")  # fmt: skip
        return clients, steps
    if num_clients not in ("any", len(steps)):
        raise InvalidInput("local_steps", steps, f"has {len(steps)} numbers for num_clients = {num_clients}",
                           f'give one for every client, num_clients={len(steps)}, or num_clients="any" for groups of '
                           "equally many clients")  # fmt: skip
    if clients.lowest == clients.highest:
        raise InvalidInput("clients", clients, "have one curvature, which is not analysed for unequal local steps",
                           "give a class with mu < L")  # fmt: skip
    kinds = tuple(sorted(set(steps)))
    shares = [steps.count(n) for n in kinds]
    members = ["any" if num_clients == "any" else share for share in shares]
    made = (ClientGroup(clients, share, count) for share, count in zip(shares, members, strict=True))
    return ClientGroups(*made), kinds
