"""Faults in the set of active clients."""

from dataclasses import replace

import numpy as np

from fedconvex.conformance.faults.base import Fault
from fedconvex.conformance.faults.building_blocks import always
from fedconvex.conformance.faults.properties import PARTICIPANTS
from fedconvex.participation import Draw


def everyone(draw: Draw, effort: int | None, num_clients: int) -> Draw:
    """All clients; those that the schedule leaves out do the full work."""
    members = np.arange(num_clients)
    if draw.efforts is None or draw.members is None:
        return replace(draw, members=members)
    efforts = np.full(num_clients, effort)
    efforts[draw.members] = draw.efforts
    return replace(draw, members=members, efforts=efforts)


FAULTS = (
    Fault(
        name="all clients take part in every round",
        cure="let only the clients of `active` work",
        breaks=PARTICIPANTS,
        applies=always,
        draw=everyone,
    ),
)
