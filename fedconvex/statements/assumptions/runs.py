"""Assumptions about the run: the method, the local solver, the participation scheme."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, final

from fedconvex.errors import InvalidInput
from fedconvex.names import one_of
from fedconvex.statements.assumptions.base import (
    PROVED,
    Assumption,
    AssumptionFinding,
    Written,
    is_at_most,
    refuted,
    short,
    unknown,
)
from fedconvex.step_numbers import common_steps
from fedconvex.validation import members_of

if TYPE_CHECKING:
    from fedconvex.statements.setting import MeasuredSetting


PAIRS = "give pairs, such as (('server_stepsize', 1),)"


@final
@dataclass(frozen=True)
class Runs(Assumption):
    """The method is the named one, with this number of local steps if one is given, and these values of others.

    Without a number, all clients still take the same one: no statement here is about clients that differ in it.

    The method is the package's, or the user's own of that name. Raises InvalidInput for pairs in `fixed` that are none,
    and for names that are no parameters of the method; of a method that is not imported yet, when it is checked.
    """

    method: str
    local_steps: int | None = None
    fixed: tuple[tuple[str, int | str], ...] = ()  # of parameters: their names and values

    def __post_init__(self) -> None:
        if not self.fixed:  # most statements: they need no method's module
            return
        for pair in members_of(self.fixed, "fixed", PAIRS):
            if not (isinstance(pair, tuple) and len(pair) == 2 and isinstance(pair[0], str)):
                raise InvalidInput("fixed", self.fixed, f"{pair!r} is no pair of a name and a value", PAIRS)
        self._require_parameters()

    @property
    def parameters_of_method(self) -> tuple[str, ...]:
        """The names of the method's parameters; none of a method that there is not."""
        from fedconvex.methods.base import Method

        return tuple(f.name for f in Method.parameters_of(self.method))

    def _require_parameters(self) -> None:
        known = self.parameters_of_method
        for parameter, _ in self.fixed:
            if known and parameter not in known:
                raise InvalidInput("fixed", parameter, f"is no parameter of {self.method}", one_of(parameter, known))

    @cached_property
    def parameters(self) -> tuple[str, ...]:
        return ()

    def in_words(self, written: Written) -> str:
        plural = "s" if self.local_steps != 1 else ""
        found = [f"{self.local_steps} local step{plural}"] if self.local_steps else []
        found += [f"{name}={value}" for name, value in self.fixed]
        return f"the method is {self.method}" + (f" with {' and '.join(found)}" if found else "")

    def check(self, setting: "MeasuredSetting", values: dict[str, Any]) -> AssumptionFinding:
        from fedconvex.local_solvers.exact import Exact

        name = type(setting.method).__name__
        if name != self.method:
            return refuted(f"the method is {name}")
        own = setting.method.local_solver
        if setting.local_solver != own and not isinstance(own, Exact):  # the method is about that local work
            return refuted(f"the local solver is not {name}'s own")
        if (steps := getattr(setting.method, "local_steps", None)) is not None:
            if (common := common_steps(steps)) is None:
                return refuted(f"the clients take different numbers of local steps, {steps}")
            if self.local_steps not in (None, common):
                return refuted(f"the clients take {common} local steps")
        self._require_parameters()
        for parameter, value in self.fixed:
            if (found := getattr(setting.method, parameter)) != value:
                return refuted(f"the method has {parameter}={found}, not {value}")
        return PROVED


@final
@dataclass(frozen=True)
class StepOf(Assumption):
    """The claim itself writes out a step of this method, from any state: for methods that proofs do not play.

    In a setting it assumes nothing, so that the claim says more than one about the states that the method reaches.
    """

    method: str

    @cached_property
    def parameters(self) -> tuple[str, ...]:
        return ()

    def in_words(self, written: Written) -> str:
        return f"the method is {self.method}, of which the claim has a step"

    def check(self, setting: "MeasuredSetting", values: dict[str, Any]) -> AssumptionFinding:
        name = type(setting.method).__name__
        if name != self.method:
            return refuted(f"the method is {name}")
        if setting.local_solver != setting.method.local_solver:
            return refuted(f"the local solver is not {name}'s own")
        return PROVED if setting.everyone else refuted("only some clients take part")


@final
@dataclass(frozen=True)
class SingleClient(Assumption):
    """There is one client, whose function is the objective: the statement is about an iteration on one function."""

    words = "there is a single client"

    def check(self, setting: "MeasuredSetting", values: dict[str, Any]) -> AssumptionFinding:
        clients = setting.problem.num_clients
        return PROVED if clients == 1 else refuted(f"there are {clients} clients")


@final
@dataclass(frozen=True)
class AtFixedPoint(Assumption):
    """The method's state is a fixed point: a round leaves it as it is."""

    words = "a round leaves the state as it is"

    def check(self, setting: "MeasuredSetting", values: dict[str, Any]) -> AssumptionFinding:
        return unknown("a run need not have reached a fixed point")


@final
@dataclass(frozen=True)
class ExactSolutions(Assumption):
    """Clients solve their subproblems exactly."""

    words = "clients solve their subproblems exactly"

    def check(self, setting: "MeasuredSetting", values: dict[str, Any]) -> AssumptionFinding:
        solver = type(setting.local_solver).__name__
        return PROVED if solver == "Exact" else refuted(f"the local solver is {solver}")


@final
@dataclass(frozen=True)
class Inexactness(Assumption):
    """Every local solution is gamma-inexact (FedProx paper, Definition 1)."""

    gamma: str = "gamma"
    words = "every client's solution is {gamma}-inexact"

    def check(self, setting: "MeasuredSetting", values: dict[str, Any]) -> AssumptionFinding:
        # the first: the measured ball itself, which is not <= itself
        if values[self.gamma] is setting.inexactness or _reaches(setting, values[self.gamma]):
            return PROVED
        return unknown(f"only {short(setting.number(setting.inexactness))}-inexactness is proved of the local solver")


@final
@dataclass(frozen=True)
class InexactnessOfEach(Assumption):
    """Every local solution is γ-inexact for γ the largest of several gammas (FedProx paper, Definition 2)."""

    gammas: str = "gammas"
    words = "every drawn client's solution is as inexact as {gammas} say, or less"

    def check(self, setting: "MeasuredSetting", values: dict[str, Any]) -> AssumptionFinding:
        if _reaches(setting, max(values[self.gammas])):
            return PROVED
        return unknown("the local solver is not proved to reach them")


def _reaches(setting: "MeasuredSetting", assumed: Any) -> bool:
    """Whether every local solution is proved to be `assumed`-inexact."""
    reached = setting.inexactness
    if any(type(value).__name__ == "arb" for value in (reached, assumed)):
        return bool(setting.number(reached) <= setting.number(assumed))
    from fedconvex.arithmetic.rationals import to_fraction

    return to_fraction(reached) <= to_fraction(assumed)


@final
@dataclass(frozen=True)
class MatchedStepsize(Assumption):
    """stepsize = 1/√(mu·L) for some mu and L with which every F_k is mu-strongly convex and L-smooth.

    Every stepsize has this form, for a smaller mu or a larger L. The least κ = L/mu is then max(1/(s mu), s L)².
    """

    kappa: str = "kappa"
    words = "{stepsize} = 1/√({mu} {L}), every client's function being {mu}-strongly convex and {L}-smooth"

    def check(self, setting: "MeasuredSetting", values: dict[str, Any]) -> AssumptionFinding:
        assumed, needed = values[self.kappa], setting.condition_number
        if is_at_most(needed, assumed, setting):
            return PROVED
        if setting.least_condition_number > setting.number(assumed):
            return refuted(f"with this stepsize kappa is {short(needed)}")
        return unknown(f"with this stepsize kappa is proved to be at most {short(needed)}")


@final
@dataclass(frozen=True)
class ProximalStepsize(Assumption):
    """The weight of the proximal term is 1/stepsize."""

    stepsize: str = "stepsize"
    words = "the weight of the proximal term is 1/{stepsize}"

    def check(self, setting: "MeasuredSetting", values: dict[str, Any]) -> AssumptionFinding:
        product = setting.number(setting.method.proximal_weight) * setting.number(values[self.stepsize])
        if product == 1:
            return PROVED
        if product < 1 or product > 1:
            return refuted(f"the product of the weight and {self.stepsize} is {short(product)}")
        return unknown("a rounded stepsize is not exactly the inverse of the weight")


@final
@dataclass(frozen=True)
class ProxError(Assumption):
    """Every computed proximal point is at most b from the true one (FedSplit paper, (15))."""

    b: str = "b"
    words = "every computed proximal point is at most {b} from the true one"

    def check(self, setting: "MeasuredSetting", values: dict[str, Any]) -> AssumptionFinding:
        if setting.number(setting.prox_error) <= setting.number(values[self.b]):
            return PROVED
        return unknown(f"an error of at most {short(setting.prox_error)} is proved")


@final
@dataclass(frozen=True)
class GradientStepsFromCenter(Assumption):
    """Clients take local_steps gradient steps from the centre 2x − z_k of the proximal term (FedSplit, Corollary 1).

    Each step must shrink the distance to the solution by the corollary's factor; α = (1 + s(mu + L)/2)⁻¹ does where
    s = 1/√(mu·L).
    """

    contraction: Callable[[Any], Any]  # from kappa to the contraction factor of one step
    words = (
        "the local solver takes {local_steps} gradient steps from the centre, with α = 1/(1 + {stepsize}({mu} + {L})/2)"
    )

    @cached_property
    def parameters(self) -> tuple[str, ...]:
        return ("kappa", "local_steps")

    def check(self, setting: "MeasuredSetting", values: dict[str, Any]) -> AssumptionFinding:
        solver: Any = setting.local_solver
        if type(solver).__name__ != "GradientDescent":
            return refuted(f"the local solver is {type(solver).__name__}")
        if setting.method.start != "center":  # type: ignore[attr-defined]
            return refuted(f"the local steps start at {setting.method.start!r}")  # type: ignore[attr-defined]
        if setting.number(values["local_steps"]) > solver.steps:
            return refuted(f"the local solver takes {solver.steps} steps")
        with setting.context():
            allowed = self.contraction(setting.number(values["kappa"]))
            if setting.step_contraction <= allowed:
                return PROVED
            reason = f"local steps of size {short(solver.stepsize)} are proved to shrink distances by"
            return unknown(f"{reason} {short(setting.step_contraction)}, not {short(allowed)}")


@final
@dataclass(frozen=True)
class GradientSteps(Assumption):
    """Clients take local_steps gradient steps of size local_stepsize on sF_k + ½‖· − x‖² (FedSplit, (17)).

    The package's subproblem is F_k + ‖· − x‖²/(2s), so that `GradientDescent` takes steps of size local_stepsize·s.
    """

    local_steps: str = "local_steps"
    local_stepsize: str = "local_stepsize"
    stepsize: str = "stepsize"
    words = "clients descend by {local_steps} steps of size {local_stepsize} on {stepsize} times their subproblems"

    def check(self, setting: "MeasuredSetting", values: dict[str, Any]) -> AssumptionFinding:
        solver: Any = setting.local_solver
        if type(solver).__name__ != "GradientDescent":
            return refuted(f"the local solver is {type(solver).__name__}")
        steps, size, s = (setting.number(values[n]) for n in (self.local_steps, self.local_stepsize, self.stepsize))
        if steps != solver.steps:
            return refuted(f"the local solver takes {solver.steps} steps")
        with setting.context():
            wanted, taken = size * s, setting.number(solver.stepsize)
            if taken == wanted:
                return PROVED
            if taken < wanted or taken > wanted:
                return refuted(f"the local steps have the size {short(solver.stepsize)}")
        return unknown("a rounded stepsize is not exactly the product of the two")


@final
@dataclass(frozen=True)
class SampledIID(Assumption):
    """K devices are drawn independently, device k with probability p_k; the server takes their unweighted mean."""

    K: str = "K"
    words = "{K} devices are drawn independently with probabilities p_k, and averaged plainly"

    def check(self, setting: "MeasuredSetting", values: dict[str, Any]) -> AssumptionFinding:
        scheme = type(setting.participation).__name__
        if scheme != "Weighted":
            return refuted(f"the participation scheme is {scheme}, not Weighted")
        if setting.method.plain and not setting.problem.is_equally_weighted:
            return refuted("the clients' functions have their weights as factors, and are drawn by these, too")
        drawn = setting.participation.K  # type: ignore[attr-defined]
        return PROVED if setting.number(values[self.K]) <= drawn else refuted(f"{drawn} devices are drawn")


@final
@dataclass(frozen=True)
class SampledUniformly(Assumption):
    """num_active of the num_clients devices take part, every subset of this size being equally likely."""

    words = "{num_active} of {num_clients} devices take part in a round, every set equally likely"

    def check(self, setting: "MeasuredSetting", values: dict[str, Any]) -> AssumptionFinding:
        scheme = type(setting.participation).__name__
        if scheme == "Uniform" and not (setting.method.plain or setting.problem.is_equally_weighted):
            return refuted("the server's average over the drawn clients is plain, and their weights differ")
        return PROVED if setting.everyone or scheme == "Uniform" else refuted(f"the participation scheme is {scheme}")


@final
@dataclass(frozen=True)
class Everyone(Assumption):
    """All clients take part in every round, and the server averages with their weights if the method uses weights."""

    words = "everyone takes part in every round"

    def check(self, setting: "MeasuredSetting", values: dict[str, Any]) -> AssumptionFinding:
        if not setting.everyone:
            return refuted("only some clients take part")
        # Uniform(m) draws everyone, but averages without weights
        if type(setting.participation).__name__ == "Uniform" and not setting.method.plain:
            equal = setting.problem.is_equally_weighted
            return PROVED if equal else refuted("the server's average over the drawn clients is plain")
        return PROVED


@final
@dataclass(frozen=True)
class StartsAtLocalMinima(Assumption):
    """The devices' first models are stationary points of their own functions: ∇L_k(θ_k⁰) = 0."""

    spread: str = "spread"
    words = "every device's first model is a stationary point of its own function"

    def check(self, setting: "MeasuredSetting", values: dict[str, Any]) -> AssumptionFinding:
        given = values[self.spread] is not setting.spread
        return unknown("how far the devices' first models are spread was given, not measured") if given else PROVED
