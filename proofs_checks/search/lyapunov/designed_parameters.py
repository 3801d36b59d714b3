"""What `design` is asked: which parameters of a method are free, and what a round costs."""

from collections.abc import Sequence
from dataclasses import MISSING, fields
from fractions import Fraction
from typing import Any

from fedconvex.arithmetic.rationals import to_fraction
from fedconvex.errors import InvalidInput
from fedconvex.local_solvers.base import LocalSolver
from fedconvex.local_solvers.gradient_descent import GradientDescent
from fedconvex.methods.base import Method
from fedconvex.names import one_of
from fedconvex.proofs_checks.search.lyapunov.design_result import UNITS
from fedconvex.proofs_checks.search.lyapunov.parameter_search import Varied
from fedconvex.proofs_checks.symbolic.randomness import draws_of
from fedconvex.proofs_checks.worst_cases.questions.function_classes import FunctionClass, SimilarClients


def units(
    method: Method, per: str, num_clients: int | str, local_solver: LocalSolver | None, participation: Any
) -> Fraction:
    """What a round costs: 1; gradients of a client; or vectors, per client of the federation.

    Raises InvalidInput for drawn clients whose number is not known: each takes part with some chance.
    """
    if per == "round":
        return Fraction(1)
    draws = draws_of(participation, num_clients)
    if not (draws.everyone or draws.clients):
        raise InvalidInput("num_clients", num_clients, f"leaves open how often a client takes part under "
                           f"{participation}", 'give m, or per="round"')  # fmt: skip
    sampled = draws.chance_of_each
    if per == "byte":
        gradients = 2 if method.gradients_from != "nobody" else 0
        sent = method.vectors_down + method.vectors_up
        return (sampled * sent + gradients) * (1 - to_fraction(method.skip))
    solver = method.local_solver if local_solver is None else local_solver
    if not isinstance(solver, GradientDescent):
        raise InvalidInput("per", per, f"needs local gradient steps, and {type(method).__name__} solves by "
                           f"{solver!r}", 'give per="round", or local_solver=GradientDescent(…)')  # fmt: skip
    return solver.steps * sampled


def checked_unit(per: Any) -> str:
    """What is to be saved. Raises InvalidInput for what is nothing of the kind."""
    if not isinstance(per, str) or per not in UNITS:
        raise InvalidInput("per", per, "is nothing to save", one_of(per, UNITS))
    return per


def varied(method: Any, over: Any, local_solver: LocalSolver | None) -> Varied:
    """The method with its free parameters. Raises InvalidInput for names that cannot be designed."""
    kind = method if isinstance(method, type) else type(method)
    if not issubclass(kind, Method):
        raise InvalidInput(
            "method", method, "is not a method", "give such as fedconvex.Scaffold or FedSplit(stepsize=1)"
        )
    own = {f.name: f for f in fields(kind)}  # type: ignore[arg-type]
    known = [name for name, f in own.items() if "number" in f.metadata or name == "local_steps"]
    if over is None:
        over = [name for name in known if name == "local_steps" or _is_required(own[name])]
    names = (over,) if isinstance(over, str) else tuple(over) if isinstance(over, Sequence) else ()
    if not names or len({*names}) < len(names):
        raise InvalidInput("over", over, "names no parameters, or one twice", f"give some of {', '.join(known)}")
    for name in names:
        if name not in known:
            problem = f"is no number that {kind.__name__} can be designed in"
            raise InvalidInput("over", name, problem, one_of(name, known))
    if local_solver is not None and {"stepsize", "local_steps"} & {*names}:
        raise InvalidInput("local_solver", local_solver, "takes the place of the method's own steps, which are to be "
                           "designed", "leave it out")  # fmt: skip
    if isinstance(method, Method):
        return Varied(kind, {name: getattr(method, name) for name in own if name not in names}, names)
    missing = [name for name in own if name not in names and _is_required(own[name])]
    if missing:
        raise InvalidInput("over", over, f"leaves out {', '.join(missing)}", "give a method in place of its class, or "
                           "design them, too")  # fmt: skip
    return Varied(kind, {}, names)


def _is_required(f: Any) -> bool:
    return f.default is MISSING and f.default_factory is MISSING


def real_parameters(free: Varied) -> list[str]:
    """The names of the real numbers among a method's parameters that are positive, free or fixed."""
    real = [f.name for f in fields(free.kind) if "number" in f.metadata]  # type: ignore[arg-type]
    return [name for name in real if name in free.names or free.fixed.get(name)]


def with_curvatures(clients: FunctionClass, low: Fraction, high: Fraction) -> FunctionClass:
    """The same class with other constants."""
    if isinstance(clients, SimilarClients):
        return SimilarClients(mu=low, L=high, delta=to_fraction(clients.delta) * high / clients.highest)
    return type(clients)(mu=low, L=high)
