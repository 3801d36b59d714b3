"""Every public function and class with a call that is valid: found by inspection, filled in by parameters' names."""

import enum
import inspect
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from importlib import import_module
from types import ModuleType
from typing import Any

import numpy as np
import pandas

import fedconvex as fc
from fedconvex import proofs_checks, testing, theory
from fedconvex.compressors import RandK, TopK
from fedconvex.participation import Participation

MODULES = (
    "fedconvex", "fedconvex.data", "fedconvex.participation", "fedconvex.audit", "fedconvex.ground_truths",
    "fedconvex.testing", "fedconvex.strategies", "fedconvex.theory", "fedconvex.proofs_checks",
    "fedconvex.regularizers", "fedconvex.compressors",
)  # fmt: skip
# What the package makes and hands out: nobody calls these, and their fields are not checked again.
RESULTS = {
    "Audit", "Certainty", "Counterexample", "Discovered", "Draw", "FixedPoint", "GroundTruth", "Remarks", "Result",
    "Recommendation", "RecommendedMethod",
    "RunDiagnosis", "StuckCause", "SweepFailed", "Trajectory", "WorstCase", "Admissible", "Rate", "Design",
    "ErrorFloor", "SublinearRate", "NonconvexRate",
}  # fmt: skip
# Decorators of the package's own proofs, whose arguments are code; a function of the user that is called at once; what
# takes seconds; base classes; a function that runs a user's file; and what `public_calls` adds by hand.
OTHERS = {
    "assert_bound_holds", "looseness", "remarks_on", "proof_of", "discover", "design", "verify_all", "Participation",
    "Regularizer", "Compressor", "paper_in",
}  # fmt: skip

A, B = [np.array([[1.0, 2.0], [3.0, 5.0]]), np.array([[1.0, 0.5]])], [np.array([1.0, 2.0]), np.array([3.0])]
Y = [np.array([1, -1]), np.array([1])]
LEAST = fc.LeastSquares(A=A, b=B)
PROBLEMS = (
    LEAST,
    fc.Logistic(A=A, y=Y, ridge=0.1),
    fc.Quadratic(H=[np.eye(2), 2 * np.eye(2)], c=[np.ones(2), np.zeros(2)]),
    fc.MultinomialLogistic(A=A, y=[np.array([0, 2]), np.array([1])], num_classes=3, ridge=0.1),
)
ALONE = fc.Quadratic(H=[np.diag([1, 2])], c=[np.ones(2, dtype=int)])  # a client alone: gradient descent
FRAME = pandas.DataFrame({"site": [0, 0, 1, 1], "x": [0.5, 1, 2, 4], "two": [0, 1, 1, 0], "y": [0, 1, 3, 2]})
METHOD, CLIENTS = fc.FedProx(mu=1), proofs_checks.SmoothStronglyConvex(mu=1, L=4)
TRUTH = fc.ground_truth(LEAST)

# A valid value of each parameter, by name; of one function's by "function.parameter".
VALUES: dict[str, Any] = {
    # methods, local solvers, participation
    "mu": 1, "alpha": 1, "eta": 1, "stepsize": 0.1, "local_steps": 2, "steps": 2, "step": Fraction(1, 10), "falls": 5,
    "epochs": 1, "batch_size": 1, "decay": 1, "weight_decay": 0, "clip": 1, "momentum": 0, "skip": 0, "option": 2,
    "server_stepsize": 1, "regularization": 1, "DIANA.compressor": RandK(1), "EF21.compressor": TopK(1),
    "omega": 1, "RandK.k": 1, "TopK.k": 1, "memory_stepsize": 0.5,
    "start": "center", "server": "all", "tolerance": 1e-6, "max_steps": 50,
    "gamma": 0.5, "K": 1, "p": 0.5, "Schedule.clients": [[0], [1]], "fraction": 0.5, "policy": "drop",
    "rule": "1/(8 + t)", "SGD.epochs": None, "SGD.steps": 2, "UnequalSteps.steps": (2, 1),
    "Adam.epochs": None, "Adam.steps": 2, "betas": (0.9, 0.99), "Adam.epsilon": 1e-8, "decoupled": False,
    "within_round": None,
    "RandomNumberOfSteps.numbers": (1, 2), "chances": (1, 3),
    "RandomSteps.steps": fc.RandomNumberOfSteps((1, 2)),
    # problems and runs
    "A": A, "b": B, "y": Y, "H": [np.eye(2), np.eye(2)], "c": [np.ones(2), np.zeros(2)], "weights": [1, 2],
    "ridge": 0.1, "num_classes": 3, "MultinomialLogistic.y": [np.array([0, 2]), np.array([1])],
    "problem": LEAST, "method": METHOD, "participation": fc.participation.Uniform(1), "stragglers": None,
    "local_solver": fc.Exact(), "x": np.ones(2), "x0": np.ones(2), "rounds": 1, "seed": 0, "arithmetic": "float",
    "precision": 64, "target_radius": 1e-10, "measure": None, "checkpoint": None, "checkpoint_every": 1,
    "progress": False, "exactly": False, "solver": "newton", "methods": [METHOD], "problems": [LEAST], "seeds": (0,),
    "out": None, "jobs": 1, "client": None, "options": {},
    "regularizer": fc.regularizers.L1(1), "weight": 1, "lower": 0, "upper": 1, "GroupLasso.groups": [[0], [1]],
    "X": np.ones(2), "V": np.ones((2, 2)), "scale": None, "k": 0, "factor": 1,
    # data
    "clients": 2, "partition": "iid", "features": 2, "kappa": 2.0, "L": 4.0, "noise": 0.1, "eigenvectors": "own",
    "optima": 1.0, "sizes": None, "dimension": 2, "classes": 2, "average": 5, "reading": "paper", "samples": 5,
    "spread": 0.0, "signal": 1.0, "beta": 1.0, "feddyn_synthetic.features": 1.0, "feddyn_synthetic.sizes": 1.0,
    "num_clients": 2, "total": 10, "sigma": 0.5, "exponent": 2.75, "minimum": 1, "labels_or_targets": [0, 1, 0, 1],
    "scheme": "iid", "data": fc.data.synthetic_iid(clients=2, features=2, classes=2, sizes=[8, 8]),
    "test_fraction": 0.2, "source": "diabetes", "client_column": None, "target_column": None, "format": None,
    "num_features": None, "standardize": False, "class_labels": None,
    "FederatedData.features": (np.ones((2, 1)), np.ones((1, 1))), "targets": (np.ones(2), np.ones(1)),
    "client_names": ("a", "b"), "feature_names": ("x",),
    "frame": FRAME, "from_frame.client": "site", "target": "y", "task": "auto", "drop": (), "one_hot": (),
    "from_frame.weights": "pooled", "from_frame.ridge": None, "impute": None, "decimal": None, "model": "auto",
    "intercept": True, "from_frame.clients": None, "from_frame.partition": None,
    "target_name": "y", "requested_task": "auto", "notes": (),
    "LeastSquares.from_frame.client": "site", "Logistic.from_frame.client": "site",
    "MultinomialLogistic.from_frame.client": "site", "Logistic.from_frame.target": "two",
    # audit and testing
    "audit.methods": ["fedgd"], "say": lambda line: None, "coefficient_names": ("a", "b"),
    "truth": TRUTH, "parse_method.text": "fedgd:local_steps=2",
    "parse_method.problem": LEAST, "statement": theory.statement("fedprox.theorem4"), "slack": Fraction(1, 10**9),
    "trajectory": fc.simulate(fc.FedGD(stepsize=Fraction(2, 3)), ALONE, 1, arithmetic="exact"),
    "absolute_slack": Fraction(1, 10**20),
    "assert_contracts.factor": 1,
    "assert_fixed_point.x": fc.fixed_point(METHOD, LEAST).point, "assert_fixed_point.tolerance": 1e-6,
    "assert_minimizer.x": TRUTH.point, "assert_minimizer.tolerance": 1e-6, "numbers": {},
    "recommend.participation": None, "recommend.rounds": 5, "recommend.tolerance": 1e-2, "check": False,
    "diagnose.run": [9.0, 8, 7, 6, 5, 4.5], "kind": "loss", "diagnose.participation": None,
    # strategies
    "min_value": 1, "max_value": 3, "names": ("L", "mu"), "full_rank": False, "ill_conditioned": True, "exact": True,
    "min_clients": 1, "max_clients": 2, "min_dim": 1, "max_dim": 2, "min_samples": 1, "max_samples": 2,
    "positive_weights": False, "min_features": 1, "max_features": 2, "kinds": None, "everything": False,
    "participation_schemes.max_value": 2, "participation_schemes.kinds": Participation,
    "positive": True, "everyone": False, "trajectories.problems": None,
    "trajectories.methods": None,
    # methods again
    "beta1": Fraction(1, 2), "beta2": Fraction(1, 2), "tau": 1, "initial": 1, "rho": 1, "probability": 1,
    # proofs and theory
    "of": "feddyn.lemma2", "worst_case.clients": CLIENTS, "metric": "distance", "dissimilarity": None,
    "heterogeneity": 0, "L_minus": 1, "functions": CLIENTS, "share": Fraction(1, 2), "ClientGroup.clients": 1,
    "ClientGroups.groups": proofs_checks.ClientGroup(CLIENTS, 1), "setting": None, "seconds": 0.1, "tries": 1,
    "worst_case.noise": None, "worst_case.spread": None, "prove.statement": theory.statement("feddyn.lemma2"),
    "worst_case.weights": None, "worst_case.participation": None, "worst_case.local_solver": None,
    "lyapunov.method": fc.FedDyn(alpha=2), "lyapunov.clients": CLIENTS, "lyapunov.participation": None,
    "composite": False, "period": 1,
    "error_floor.method": fc.FedGD(stepsize=Fraction(1, 8)), "error_floor.clients": CLIENTS, "cause": "noise",
    "error_floor.local_solver": None, "error_floor.participation": None,
    "sublinear_rate.method": fc.FedGD(stepsize=Fraction(1, 8)),
    "sublinear_rate.clients": CLIENTS, "sublinear_rate.participation": None, "sublinear_rate.local_solver": None,
    "sublinear_rate.weight": 1, "sublinear_rate.points": "before",
    "identifier": "fedprox.theorem4", "name": "fedprox", "draw_sweep.problem": None, "draw_sweep.x": "round",
    "draw_sweep.y": "gap", "axes": None, "table": fc.sweep([METHOD], [LEAST], rounds=1, progress=False),
    "argument": "x", "value": 1, "cure": "x", "reason": "x", "witness": None,
    "SmoothStronglyConvex.mu": 1, "Quadratics.mu": 1, "QuadraticGrowth.mu": 1, "delta": 1, "nesterov": False,
    "missing": None, "categories": (), "among": None, "diagnose.x0": None,
}  # fmt: skip
BOUND = {"statement": theory.statement("nesterov.theorem2_1_15"), "trajectory": VALUES["trajectory"]}
BOUND |= {"L": 2, "mu": 1, "kappa": 2, "slack": Fraction(1, 10**9), "absolute_slack": Fraction(1, 10**20)}


@dataclass(frozen=True)
class PublicCall:
    """A public function or class, and the arguments of a valid call."""

    name: str
    call: Callable[..., Any]
    arguments: dict[str, Any]
    variadic: str | None = None  # the name of `*arguments`

    def __call__(self, **given: Any) -> Any:
        if self.variadic in given:
            return self.call(given.pop(self.variadic), **given)
        return self.call(**given)


def public_names() -> Iterator[tuple[str, Any]]:
    """All that `__all__` lists; where a module has none, the public functions and classes that it defines."""
    seen = set()
    for module in map(import_module, MODULES):
        listed = getattr(module, "__all__", None)
        own = (n for n, v in vars(module).items() if n[0] != "_" and getattr(v, "__module__", "") == module.__name__)
        for name in listed if listed is not None else own:
            value = getattr(module, name)
            if callable(value) and not isinstance(value, ModuleType) and id(value) not in seen:
                seen.add(id(value))
                yield name, value


def is_taken(name: str, value: Any) -> bool:
    """Whether somebody calls it with arguments that can be wrong."""
    special = isinstance(value, type) and issubclass(value, BaseException | enum.Enum)
    return name not in RESULTS | OTHERS and not special


@cache
def public_calls() -> list[PublicCall]:
    """All public functions and classes, problems' methods, and calculators, each with a valid call."""
    calls = [_of(name, value) for name, value in public_names() if is_taken(name, value)]
    for problem in PROBLEMS:
        for name, member in inspect.getmembers(problem, inspect.ismethod):
            if name[0] != "_" and not _needs_an_arithmetic(member):
                calls.append(_of(f"{type(problem).__name__}.{name}", member, _points(problem)))
    calls += [
        PublicCall("to_frame", VALUES["trajectory"].to_frame, {"columns": ["gap"]}),
        PublicCall("assert_bound_holds", testing.assert_bound_holds, BOUND),
        PublicCall("bounds_for", theory.bounds_for, {"problem": LEAST, "method": METHOD}),
    ]
    for paper in theory.papers().values():
        for statement in paper:
            calls.append(PublicCall(statement.identifier, statement, _numbers_of(statement)))
    return [call for call in calls if call.arguments]


def _of(name: str, value: Any, own: dict[str, Any] | None = None) -> PublicCall:
    arguments, variadic = {}, None
    for parameter in inspect.signature(value).parameters.values():
        if parameter.kind is parameter.VAR_KEYWORD:
            continue
        if parameter.kind is parameter.VAR_POSITIONAL:
            variadic = parameter.name
        key = f"{name}.{parameter.name}"
        found = (own or {}).get(parameter.name, VALUES.get(key, VALUES.get(parameter.name, KeyError)))
        if found is KeyError:
            raise KeyError(f"give a valid value of {key} in VALUES")
        arguments[parameter.name] = found
    return PublicCall(name, value, arguments, variadic)


def _needs_an_arithmetic(member: Any) -> bool:
    """Methods that the package's own modules call, with objects that only they make."""
    required = [p for p in inspect.signature(member).parameters.values() if p.default is p.empty]
    return any("Arithmetic" in str(p.annotation) for p in required) or member.__name__ in ("samples_of", "at")


def _points(problem: Any) -> dict[str, Any]:
    point = np.ones(problem.dim)
    return {"x": point, "X": point, "V": np.ones((2, problem.dim)), "arithmetic": "float"}


TRIED = (1, 2, 0, Fraction(1, 2), 4, 10, 100, Fraction(1, 10), 25, Fraction(1, 100), 3)
FAVOURITES = {"L": 1, "mu": Fraction(1, 2), "L_minus": 0, "gamma": 0, "K": 10, "B": Fraction(6, 5)}
TRIES = 300


def _numbers_of(statement: Any) -> dict[str, Any]:
    """Numbers that the calculator accepts, found by trying; otherwise numbers that it refuses."""
    names = list(inspect.signature(statement).parameters)
    chance = np.random.default_rng(len(names))
    given = {name: FAVOURITES.get(name, 1) for name in names}
    for _ in range(TRIES):
        try:
            statement(**given)
            break
        except fc.FedconvexError:
            given = {name: TRIED[chance.integers(len(TRIED))] for name in names}
    return given
