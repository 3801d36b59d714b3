"""The methods of an audit, from the user's text or by default, with parameters chosen from the problem's constants."""

import math
import re
from dataclasses import MISSING, fields
from fractions import Fraction
from typing import Any

import numpy as np

from fedconvex.arithmetic.decimals import Rounding, significant
from fedconvex.compressors import Compressor
from fedconvex.errors import InvalidInput
from fedconvex.fixed_points.method_analysis import require_affine
from fedconvex.ground_truths import GroundTruth
from fedconvex.local_solvers.base import SmoothSolver
from fedconvex.local_solvers.exact import Exact
from fedconvex.methods import METHODS
from fedconvex.methods.averaging import FedGD
from fedconvex.methods.base import Method
from fedconvex.names import suggestion
from fedconvex.parameters import is_scheduled
from fedconvex.problems.base import Problem
from fedconvex.problems.composite import require_problem
from fedconvex.stepsizes import StepsizeSchedule
from fedconvex.validation import exact_number, instance_of

# FedAvg's local SGD is random: by its name, audits and worst cases compute what it does without sampling noise.
AUDITED: dict[str, type[Method]] = {name.lower(): kind for name, kind in METHODS.items()} | {"fedavg": FedGD}
FEDAVG = (
    "fedavg is FedGD here: its local epochs are gradient steps on all of a client's samples, without the noise of SGD "
    "(with one local step this is FedSGD)"
)
EPOCHS = 10  # local steps of fedavg where none are given, as in `default_methods`
CHOSEN = ("stepsize", "mu", "alpha", "rho", "eta")  # parameters that can be chosen from a problem's constants
WEIGHTS = ("mu", "alpha", "rho")  # of proximal terms, chosen as √(ℓL) for exact local solutions
FLAT = 1e-3  # replaces ℓ/L if neither the clients nor the objective are strongly convex


def default_methods(problem: Problem, truth: GroundTruth) -> list[Method]:
    """The methods that an audit compares by default: FedGD(1/L, 1), FedGD(1/L, 10), FedProx(1/s) and FedSplit(s).

    Here s = 1/√(ℓL), with L the largest smoothness and ℓ the least strong convexity of the clients' functions as the
    method scales them; if a client is not strongly convex, ℓ is the objective's. Parameters are rounded down to three
    digits, so that they are easy to quote.
    """
    return [build("fedgd", {}, problem, truth), build("fedgd", {"local_steps": Fraction(10)}, problem, truth)] + [
        build(name, {}, problem, truth) for name in ("fedprox", "fedsplit")
    ]


def parse_method(text: str, problem: Problem, truth: GroundTruth) -> Method:
    """A method from `name` or `name:parameter=value,…`, numbers as decimals or fractions: `fedgd:stepsize=1/20`.

    Parameters that are left out get the value of `default_methods`, or the method's own default.
    """
    return build(*read_method(text), problem, truth)


def read_method(text: str) -> tuple[str, dict[str, Fraction]]:
    """The method's name and parameters in a text such as `fedgd:stepsize=1/20`.

    Raises InvalidInput for every error that does not depend on the problem: unknown names, values that are not numbers
    or out of range, and missing parameters that have no default.
    """
    instance_of(text, str, "method", "text", "give such as 'fedgd:local_steps=10'")
    kind, given = read_parameters(text)
    name = kind.__name__.lower()
    # builds the method once with placeholders, for its own checks of ranges
    _complete(name, given, dict.fromkeys(CHOSEN, Fraction(1)))
    return name, given


def explanation(text: str) -> str:
    """What a method's name stands for where it is not the class of that name; "" otherwise."""
    return FEDAVG if _name_and_rest(text)[0] == "fedavg" else ""


def read_parameters(text: str) -> tuple[type[Method], dict[str, Fraction]]:
    """The class and the exact parameters in a text such as `fedgd:stepsize=1/20`, or `FedGD(stepsize=1/20)`.

    A stepsize may be a rule in t, as in `fedgd:stepsize=1/(8 + t)`.

    `fedavg` is FedGD, with its `epochs` as local steps (`FEDAVG`). Raises InvalidInput for names that are unknown,
    with the nearest known one, and for values that are not numbers.
    """
    name, rest = _name_and_rest(text)
    if name not in AUDITED:
        cure = f"{suggestion(name, AUDITED)}choose {', '.join(AUDITED)}, e.g. fedgd:local_steps=10"
        raise InvalidInput("method", text, "is unknown", cure)
    # parameters that are words or compressors, such as FedSplit's server, cannot be set in text
    kind = AUDITED[name]
    allowed = [f.name for f in fields(kind) if not isinstance(f.default, str | Compressor)]  # type: ignore[arg-type]
    allowed += ["epochs"] * (name == "fedavg")
    if re.search(r"=\s*[(\[]", rest):
        cure = "give one number for all clients here, or the method itself in Python"
        raise InvalidInput("method", text, "has several numbers for one parameter, which text cannot give", cure)
    given: dict[str, Fraction] = {}
    for part in filter(None, rest.split(",")):
        key, separator, number = (piece.strip() for piece in part.partition("="))
        if key not in allowed:
            cure = f"{suggestion(key, allowed)}give {'=…, '.join(allowed)}=…"
            raise InvalidInput("method", text, f"{key!r} is no parameter of {name}", cure)
        if not separator:
            raise InvalidInput("method", text, f"{key} has no value", f"write {name}:{key}=NUMBER")
        given[key] = _given(number, key)
    if name == "fedavg":
        if {"epochs", "local_steps"} <= given.keys():
            problem = "has epochs and local_steps, which are the same here"
            raise InvalidInput("method", text, problem, "give one of the two")
        given["local_steps"] = given.pop("epochs", given.get("local_steps", Fraction(EPOCHS)))
    return kind, given


def _given(text: str, key: str) -> Any:
    """The exact number that the text denotes, or the rule of a stepsize that changes from round to round."""
    is_rule = key.endswith("stepsize") and re.search(r"\bt\b", text)
    return StepsizeSchedule(text) if is_rule else exact_number(text, key)


def _name_and_rest(text: str) -> tuple[str, str]:
    """The name and the parameters in `name:key=value,…` or in `Name(key=value, …)`, in lower case."""
    written = text.strip().lower()
    if written.endswith(")") and "(" in written and ":" not in written:
        written = written.removesuffix(")").replace("(", ":", 1)
    name, _, rest = written.partition(":")
    return name.strip().replace("-", "").replace("_", ""), rest


def build(name: str, given: dict[str, Fraction], problem: Problem, truth: GroundTruth) -> Method:
    """The method with the given parameters; required ones that are missing are chosen from the problem's constants."""
    require_problem(problem)
    instance_of(truth, GroundTruth, "truth", "a ground truth", "give fedconvex.ground_truth(problem)")
    kind = AUDITED[name]
    plain = kind.plain and not problem.is_equally_weighted
    factors = [float(problem.num_clients * weight) for weight in problem.exact_weights] if plain else [1.0]
    largest = float(max(problem.L * factors))
    if largest <= 0:
        raise InvalidInput(
            "data", problem, "has clients whose functions are linear", "give features that are not all 0"
        )
    mean = math.sqrt(largest * _smallest_curvature(problem, truth, largest, np.array(factors)))  # √(ℓL)
    defaults = dict(zip(CHOSEN, (1 / largest, mean, mean, mean, 1 / mean), strict=True))
    made = _complete(name, given, {key: three_digits(value) for key, value in defaults.items()})
    of_proximal_steps = hasattr(made, "stepsize") and isinstance(made.local_solver, Exact)
    if of_proximal_steps and "stepsize" not in given:
        return build(name, {**given, "stepsize": three_digits(1 / mean)}, problem, truth)
    return made


def has_fixed_rounds(method: Method, problem: Problem) -> bool:
    """Whether all rounds are the same affine map of state and answers, without a draw: only such a map is measured."""
    solver = method.local_solver
    if is_scheduled(method) or method.skip != 0 or not isinstance(solver, SmoothSolver):
        return False
    try:
        require_affine(method, problem, solver)
    except InvalidInput:
        return False
    return True


def describe(method: Method) -> str:
    """The method as a call: FedGD(stepsize=0.614, local_steps=10)."""
    parts = [f"{name}={value}" for name, value in _parameters(method)]
    return f"{type(method).__name__}({', '.join(parts)})"


def shorthand(method: Method) -> str:
    """The method with the papers' symbols: FedGD(s=0.614, e=10)."""
    symbols = {"stepsize": "s", "local_steps": "e", "mu": "μ", "alpha": "α", "rho": "ρ", "eta": "η"}
    parts = [f"{symbols.get(name, name)}={value}" for name, value in _parameters(method)]
    return f"{type(method).__name__}({', '.join(parts)})"


def three_digits(value: float) -> Fraction:
    """The positive number rounded down to three significant digits, exactly as written in decimals."""
    return Fraction(significant(value, 3, Rounding.FLOOR))


def _smallest_curvature(problem: Problem, truth: GroundTruth, largest: float, scale: np.ndarray | float = 1.0) -> float:
    """ℓ of `default_methods`."""
    clients = float(min(problem.mu * scale))
    if clients > 0:
        return clients
    return truth.strong_convexity if truth.strong_convexity > 0 else FLAT * largest


def _complete(name: str, given: dict[str, Fraction], defaults: dict[str, Fraction]) -> Method:
    """The method with the given parameters; `defaults` supplies required ones that are missing."""
    kind = AUDITED[name]
    chosen: dict[str, Any] = {key: integer_or_same(v) for key, v in given.items()}
    for f in fields(kind):  # type: ignore[arg-type]
        if f.name not in chosen and f.default is MISSING:
            if f.name not in defaults:
                raise InvalidInput("method", name, f"needs {f.name}", f"write {name}:{f.name}=…")
            chosen[f.name] = defaults[f.name]
    made = kind(**chosen)
    weights = [n for n in chosen if n in WEIGHTS and n not in given]
    if weights and not isinstance(made.local_solver, Exact):  # gradient steps of size 1/α diverge for α below L
        raise InvalidInput("method", name, f"needs {weights[0]}", f"write {name}:{weights[0]}=…")
    return made


def integer_or_same(value: Any) -> Any:
    """A Fraction that is an integer as an int, and any other value as it is."""
    return int(value) if isinstance(value, Fraction) and value.denominator == 1 else value


def _parameters(method: Method) -> list[tuple[str, str]]:
    """The parameters as texts, without those that have their default value; local steps are always shown."""
    values = [(f, getattr(method, f.name)) for f in fields(method)]  # type: ignore[arg-type]
    return [(f.name, _number(value)) for f, value in values if f.name == "local_steps" or value != f.default]


def _number(value: object) -> str:
    return f"{float(value):.6g}" if isinstance(value, Fraction | float) else str(value)
