"""A script in NumPy alone that shows where an implementation leaves its method: to paste into a project's issue."""

from typing import TYPE_CHECKING, Any

import numpy as np

from fedconvex.arithmetic.rationals import nearest_float
from fedconvex.conformance.implementation import ObservedRun
from fedconvex.errors import InvalidInput
from fedconvex.local_solvers.exact import Exact
from fedconvex.local_solvers.gradient_descent import GradientDescent
from fedconvex.local_solvers.sgd import SGD
from fedconvex.methods.averaging import Averaging, FedNova
from fedconvex.methods.dane import DANE, FedDANE, GradientCorrected
from fedconvex.methods.fedadmm import FedADMM
from fedconvex.methods.feddyn import DynamicRegularization
from fedconvex.methods.fedpd import FedPD
from fedconvex.methods.fedsplit import FedSplit
from fedconvex.methods.scaffold import Scaffold
from fedconvex.methods.server_optimizer import AdaptiveServerOptimizer, FedAvgM

if TYPE_CHECKING:
    from fedconvex.conformance.report import Report

LONGEST = 25  # lines
CENTRED, AVERAGED = "w, 0, w", "w = P @ [y[k] for k in work]"
OF_ALL = "sum(q[k] * grad(k, w) for k in range(len(A))) - grad(k, w)"
# of a method: what it keeps at first; of a local problem its (start, linear term, centre); and the server's part of a
# round, where P are the participants' weights and work their local steps
ROUNDS: tuple[tuple[type, str, str, str], ...] = (
    (FedNova, "", CENTRED, "tau = P @ list(work.values()); w = w + tau * P @ [(y[k] - w) / work[k] for k in work]"),
    (
        FedAvgM,
        "v = 0 * w",
        CENTRED,
        "D = P @ [y[k] - w for k in work]; v = {momentum} * v + D; w = w + {server_stepsize} * {step}",
    ),
    (
        AdaptiveServerOptimizer,
        "m, v = 0 * w, 0 * w + {initial}",
        CENTRED,
        "D = P @ [y[k] - w for k in work]; m = {beta1} * m + (1 - {beta1}) * D; v = {second}; "
        "w = w + {server_stepsize} * m / (np.sqrt(v) + {tau})",
    ),
    (DANE, "", f"w, {{eta}} * {OF_ALL}, w", AVERAGED),
    (FedDANE, "", "w, P @ [grad(j, w) for j in work] - grad(k, w), w", AVERAGED),
    (GradientCorrected, "", f"w, {OF_ALL}, w", AVERAGED),
    (Averaging, "", CENTRED, AVERAGED),
    (
        DynamicRegularization,
        "g, h = [0 * w for _ in A], 0 * w",
        "w, -g[k], w",
        "g = [g[k] - {alpha} * (y[k] - w) if k in work else g[k] for k in range(len(A))]; "
        "h = h - {alpha} / len(A) * sum(y[k] - w for k in work); w = P @ [y[k] for k in work] - h / {alpha}",
    ),
    (
        Scaffold,
        "c, own = 0 * w, [0 * w for _ in A]",
        "w, c - own[k], w",
        "new = {{k: {variate} for k in work}}; moved = P @ [y[k] - w for k in work]; "
        "c, w = c + sum(new[k] - own[k] for k in work) / len(A), w + {server_stepsize} * moved; "
        "own = [new.get(k, own[k]) for k in range(len(A))]",
    ),
    (
        FedSplit,
        "z = [w for _ in A]",
        "{start}, 0, 2 * w - z[k]",
        "z = [z[k] + 2 * (y[k] - w) if k in work else z[k] for k in range(len(A))]; w = {mean}",
    ),
    (
        FedPD,
        "dual, last = [0 * w for _ in A], [w for _ in A]",
        "last[k], dual[k], w",
        "dual = [dual[k] + (y[k] - w) / {eta} if k in work else dual[k] for k in range(len(A))]; "
        "last = [y.get(k, last[k]) for k in range(len(A))]; w = P @ [y[k] + {eta} * dual[k] for k in work]",
    ),
    (
        FedADMM,
        "dual, last = [0 * w for _ in A], [w for _ in A]",
        "w, dual[k], w",
        "sent = [2 * y[k] - last[k] - w for k in work]; "
        "dual = [dual[k] + {rho} * (y[k] - w) if k in work else dual[k] for k in range(len(A))]; "
        "last = [y.get(k, last[k]) for k in range(len(A))]; w = w + {share} * sum(sent)",
    ),
)


def issue_of(report: "Report") -> str:
    """The script: data, the method's rounds up to the first deviation, the expected numbers and those found.

    Raises:
        InvalidInput: an implementation without deviation; a method, a loss or a local solver that has no short script.
    """
    setup = report.suspects.setup
    method, solver = setup.method, setup.solver
    parts = next((parts for kind, *parts in ROUNDS if isinstance(method, kind)), None)
    plain = isinstance(solver, Exact | GradientDescent) or (
        isinstance(solver, SGD) and solver.batch_size is None and not solver.momentum and not solver.weight_decay
    )
    if not report.deviations:
        raise InvalidInput("report", report.verdict, "has no deviation to show", "the script is for code that differs")
    squares = all(reference.scenario.is_rational for reference in report.references)
    if parts is None or not plain or not squares or setup.weighted or report.suspects.part != "both":
        cure = "use a squared loss and plain local steps, or report the deviation as report.report() prints it"
        raise InvalidInput("report", report.method, "has no short script in NumPy", cure)
    first = min(report.deviations, key=lambda d: (d.round, len(_run(report, d.scenario).scenario.sizes)))
    return _script(report, first, *parts)


def _run(report: "Report", name: str) -> ObservedRun:
    return next(run for run in report.runs if run.scenario.name == name)


def _script(report: "Report", first: Any, kept: str, local: str, after: str) -> str:
    setup, run = report.suspects.setup, _run(report, first.scenario)
    scenario, method = run.scenario, setup.method
    problem: Any = scenario.base
    scale: Any = method.scale(problem) or (1,) * len(problem.A)
    factors = [nearest_float(own * more) for own, more in zip(scenario.factors, scale, strict=True)]
    weights = [nearest_float(weight) for weight in method.average_weights(problem)]
    numbers = _numbers(method)
    work = [
        dict(zip(active, scenario.efforts[t] if scenario.efforts else [setup.effort] * len(active), strict=True))
        for t, active in enumerate(scenario.rounds[: first.round])
    ]
    if isinstance(setup.solver, Exact):
        solved = [
            "    H = f[k] * A[k].T @ A[k] + weight * np.eye(len(start))",
            "    return np.linalg.solve(H, f[k] * A[k].T @ b[k] - linear + weight * center)",
        ]
    else:
        stepsize = nearest_float(setup.solver.stepsize)  # type: ignore[attr-defined] # steps, as was required
        solved = [
            "    y = start",
            "    for _ in range(steps):",
            f"        y = y - {stepsize!r} * (grad(k, y) + linear + weight * (y - center))",
            "    return y",
        ]
    who = "w" if first.client is None else f"y[{first.client}]"
    said = "the server's model" if first.client is None else f"the local model of client {first.client}"
    lines = [
        f"# {report.method}: {said} after round {first.round} differs from the method's",
        "import numpy as np",
        f"A = [np.array(rows) for rows in {[A.tolist() for A in map(np.asarray, problem.A)]}]",
        f"b = [np.array(rows) for rows in {[np.asarray(b).tolist() for b in problem.b]}]",
        f"f, q, weight = {factors}, {weights}, {nearest_float(method.proximal_weight)!r}  # f[k]/2 * |A[k] x - b[k]|^2",
        f"w = np.array({list(scenario.start)})",
        f"rounds = {work}  # of each participant its local steps",
        "def grad(k, x):",
        "    return f[k] * A[k].T @ (A[k] @ x - b[k])",
        "def solve(k, steps, start, linear, center):",
        *solved,
        *([kept.format(**numbers)] if kept else []),
        "for work in rounds:",
        "    P = np.array([q[k] for k in work]) / sum(q[k] for k in work)",
        f"    y = {{k: solve(k, work[k], {local.format(**numbers)}) for k in work}}",
        f"    {after.format(**numbers)}",
        f"print('expected', {who})",
        f"print('found   ', np.array({list(first.found)}))",
    ]
    assert len(lines) <= LONGEST
    return "\n".join(lines) + "\n"


def _numbers(method: Any) -> dict[str, str]:
    """The parameters as a script writes them, and what depends on a method's options."""
    found = {
        name: repr(nearest_float(value))
        for name in (
            "momentum",
            "server_stepsize",
            "beta1",
            "beta2",
            "tau",
            "initial",
            "alpha",
            "eta",
            "rho",
            "stepsize",
        )
        if (value := getattr(method, name, None)) is not None
    }
    path = f"(w - y[k]) / (work[k] * {found.get('stepsize')})"
    second = {
        "FedAdagrad": "v + D**2",
        "FedAdam": "{0} * v + (1 - {0}) * D**2",
        "FedYogi": "v - (1 - {0}) * D**2 * np.sign(v - D**2)",
    }
    starts = {"center": "2 * w - z[k]", "server": "w", "warm": "w"}
    return found | {
        "step": f"({found.get('momentum')} * v + D)" if getattr(method, "nesterov", False) else "v",
        "second": second.get(type(method).__name__, "").format(found.get("beta2")),
        "variate": "grad(k, w)" if getattr(method, "option", 2) == 1 else f"own[k] - c + {path}",
        "mean": "np.mean(z, axis=0)" if getattr(method, "server", "all") == "all" else "P @ [z[k] for k in work]",
        "share": "1 / len(A)" if "server_stepsize" not in found else f"{found['server_stepsize']} / len(work)",
        "start": starts.get(getattr(method, "start", "center"), "w"),
    }
