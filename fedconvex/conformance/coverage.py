"""What a check has compared, and what it could not: without the latter a verdict would be more than is known."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import final

from fedconvex.conformance.implementation import ObservedRun
from fedconvex.conformance.setup import Setup
from fedconvex.local_solvers.sgd import SGD
from fedconvex.methods.averaging import FedNova
from fedconvex.methods.feddyn import FedDynOneGD
from fedconvex.methods.fedpd import FedPD
from fedconvex.methods.fedsplit import RegularizedFedSplit
from fedconvex.methods.personal_models import Ditto, PFedMe

NOVA = "FedNova's division by the local work"
UNEQUAL = "unequal local work: give round an argument local_steps, or check the server's part alone"
ONE_STEP = "{}, which one local step does not show: check with two or more"
PERSONAL = "the clients' personal models: give client_models"


@final
@dataclass(frozen=True)
class Coverage:
    """The conditions under which an implementation ran to the end.

    `missing`: what the method prescribes and these runs do not show, each with what to pass; a check that finds no
    deviation is then undecided. `rounds` and `problems` count what was run to the end, `local_steps` are the numbers
    of steps (or epochs) that clients took, and `part` is "both", or the one that the kit did not simulate.
    """

    part: str
    problems: int
    rounds: int
    local_steps: tuple[int, ...]
    unequal_work: bool
    partial_participation: bool
    unequal_samples: bool
    client_models: bool
    missing: tuple[str, ...] = ()

    @property
    def scope(self) -> str:
        """How much was compared."""
        return f"{self.problems} problems, {self.rounds} rounds"

    def without(self, missing: str) -> "Coverage":
        """The same with one thing more that was not seen."""
        return replace(self, missing=(*self.missing, missing))

    def __str__(self) -> str:
        said = [f"local steps {', '.join(map(str, self.local_steps))}"] if self.local_steps else []
        facts = {
            "unequal local work": self.unequal_work,
            "partial participation": self.partial_participation,
            "unequal numbers of samples": self.unequal_samples,
            "the clients' models": self.client_models,
        }
        said += [name for name, seen in facts.items() if seen]
        without = [name for name, seen in facts.items() if not seen]
        return "; ".join(said) + (f"; not {', not '.join(without)}" if without else "")


def coverage_of(setup: Setup, runs: Sequence[ObservedRun], part: str) -> Coverage:
    """What these runs cover of the setup's method."""
    complete = [run for run in runs if len(run.points) > len(run.scenario.rounds)]
    played = [run.scenario for run in complete]
    steps = {
        step
        for scenario in played
        for efforts in (scenario.efforts or (() if setup.effort is None else ((setup.effort,),)))
        for step in efforts
    }
    found = Coverage(
        part=part,
        problems=len(complete),
        rounds=sum(len(scenario.rounds) for scenario in played),
        local_steps=tuple(sorted(steps)),
        unequal_work=any(scenario.efforts is not None for scenario in played),
        partial_participation=any(len(active) < len(s.sizes) for s in played for active in s.rounds),
        unequal_samples=any(len(set(scenario.sizes)) > 1 for scenario in played),
        client_models=any(clients for run in complete for clients in run.clients),
    )
    refused = {name for run in runs for name in run.refused}
    return replace(found, missing=tuple(_missing(setup, found, refused)))


def _missing(setup: Setup, covered: Coverage, refused: set[str]) -> list[str]:
    method, solver = setup.method, setup.solver
    missing = sorted(refused)
    if isinstance(method, FedNova) and covered.part != "clients" and not (covered.unequal_work or refused):
        missing.append(ONE_STEP.format(NOVA) if setup.most_steps == 1 else f"{NOVA}; {UNEQUAL}")
    if covered.part != "server" and setup.most_steps == 1:
        terms = {
            "the proximal term": method.proximal_weight != 0 and not isinstance(method, FedDynOneGD),
            "momentum": isinstance(solver, SGD) and solver.momentum != 0,
        }
        missing += [ONE_STEP.format(name) for name, used in terms.items() if used and not _moves_center(setup)]
    if isinstance(method, Ditto) and not covered.client_models:
        missing.append(PERSONAL)
    return missing


def _moves_center(setup: Setup) -> bool:
    """Whether local work starts elsewhere than at the proximal term's centre, so that one step feels the term."""
    method = setup.method
    several = isinstance(method, PFedMe) and method.local_steps != 1
    elsewhere = isinstance(method, FedPD | Ditto | RegularizedFedSplit)
    return several or elsewhere or getattr(method, "start", "center") != "center"
