"""What to do about a run that is stuck: parameters designed for the problem, with their predicted rounds."""

from dataclasses import dataclass, replace

from fedconvex.audit.designs.parameters import MethodDesigner
from fedconvex.audit.designs.search import DesignedMethod
from fedconvex.audit.designs.trials import FederationLimits
from fedconvex.audit.methods import describe
from fedconvex.audit.twins import DeterministicTwin
from fedconvex.local_solvers.base import LocalSolver
from fedconvex.local_solvers.gradient_descent import GradientDescent
from fedconvex.methods.base import Method
from fedconvex.participation import Participation

WITHOUT_BIAS = "run a method without bias: FedSplit, FedDyn or SCAFFOLD"  # where a run from 0 has nothing to do
MOST_STEPS = 1 << 14  # local gradient steps that are tried


@dataclass(frozen=True, eq=False)
class Cures:
    """Finds cures on one model for one tolerance and the run's participation."""

    designer: MethodDesigner
    participation: Participation | None

    def redesign(self, method: Method) -> str:
        """The same method with designed parameters, and the one that needs the fewest rounds."""
        if self.designer.model.first_gap <= 0:
            return WITHOUT_BIAS
        found = [self.designer.fedsplit(), self.designer.feddyn()]
        best = min(found, key=lambda design: design.reached.rounds)
        if type(method) not in self.designer.designs or isinstance(method, type(best.method)):
            return f"run {_predicted(best)}"
        return f"run {_predicted(best)}; {_predicted(self.designer.like(method))}"

    def more_local_work(self, twin: DeterministicTwin) -> str:
        """The number of local gradient steps with which the error floor is below the tolerance and rounds suffice."""
        if not isinstance(twin.solver, GradientDescent):
            return "solve the local problems exactly"
        steps = twin.solver.steps
        while steps < MOST_STEPS:
            steps *= 2
            more = replace(twin, solver=replace(twin.solver, steps=steps))
            if more.floor <= twin.target and more.reached.rounds <= 2 * twin.exact().reached.rounds:
                start = ""
                if getattr(twin.method, "start", None) == "center":
                    start = f'; or start them at the server\'s point, {type(twin.method).__name__}(start="server")'
                rounds = more.reached.rounds
                return f"take {steps:,} local gradient steps, {rounds:,.0f} rounds are then predicted{start}"
        return f"more than {MOST_STEPS:,} local gradient steps are needed: solve the local problems exactly"

    def tighter(self, solver: LocalSolver) -> str:
        """The same for solvers with a tolerance."""
        gamma = getattr(solver, "gamma", None)
        return "solve the local problems exactly" + (
            "" if gamma is None else f", or lower gamma below {float(gamma):g}"
        )

    def less_noise(self, partial: bool) -> str:
        """A method without sampling noise at the minimiser, or larger samples."""
        if not partial or self.participation is None:
            return "enlarge the mini-batches, or lower the stepsize over the rounds (decay < 1)"
        return f"{self._drawn}, which has no such noise; or draw more clients"

    def fresher_memory(self, method: Method) -> str:
        """More participants, or parameters for this participation."""
        return f"{self._drawn}; or draw more clients, so that their memories are renewed sooner"

    @property
    def _drawn(self) -> str:
        """FedDyn for this participation."""
        assert self.participation is not None
        if self.designer.model.first_gap <= 0:
            return "run FedDyn"
        drawn = replace(self.designer, limits=FederationLimits(participation=self.participation))
        alpha = float(self.designer.feddyn().method.alpha)  # type: ignore[attr-defined]
        return f"run {_predicted(drawn.drawn(alpha))}"


def _predicted(design: DesignedMethod) -> str:
    name = describe(design.method)
    if design.rounds is None:
        return f"{name}, which is not predicted to reach the tolerance"
    return f"{name}: {design.rounds:,} rounds predicted"
