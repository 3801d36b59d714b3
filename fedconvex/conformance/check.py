"""The conformance check: run an implementation on small exact problems, compare it with the method, name its faults."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from fedconvex.conformance import findings
from fedconvex.conformance.diagnosis import Suspects
from fedconvex.conformance.faults import Fault
from fedconvex.conformance.findings import ConformanceFinding
from fedconvex.conformance.implementation import BITS, Implementation, ObservedRun, observe, require_callable, takes
from fedconvex.conformance.reference import Reference
from fedconvex.conformance.report import Deviation, Report
from fedconvex.conformance.scenarios import scenarios
from fedconvex.conformance.setup import Setup, setup_of
from fedconvex.errors import InvalidInput
from fedconvex.local_solvers.base import LocalSolver
from fedconvex.methods.base import Method

LEAST_LONG_NUMBERS = 8  # of numbers of float32, before single precision is named
GROSS = 1e-4  # the part of a run's largest deviation that counts as where it begins


def check(
    method: Method,
    *,
    init: Callable[..., Any] | None = None,
    round: Callable[..., Any] | None = None,
    server_model: Callable[..., Any] | None = None,
    client_models: Callable[..., Any] | None = None,
    local_update: Callable[..., Any] | None = None,
    local_solver: LocalSolver | None = None,
    loss: str | None = None,
    weights: str | None = None,
    precision: str | None = None,
) -> Report:
    """Compare an implementation of `method` with the exact trajectory on small problems, and name what it does wrong.

    Use it on a new implementation, or on a framework before you trust its results; in a test suite, `conforms_to`. It
    checks the algorithm on deterministic rounds of full-batch steps, and neither speed nor sampling nor data loading.

    Pass either three functions:

    * `init(problem, x0) -> state`: problem has `A`, `b` (lists of the clients' data, (n_k, 2) and (n_k,) float64),
      `weights` and `num_clients`; x0 is the server's first model, (2,). The state is yours: any object.
    * `round(problem, state, active) -> state`: one round in which the clients of the list `active` take part. Working
      on the state in place is fine; return it. If it has an argument `local_steps`, it is also checked with clients
      that do less work: `local_steps[i]` is the number of steps (or epochs) of client `active[i]`.
    * `server_model(state) -> (2,)` the server's model: a list, NumPy array or torch tensor.
    * `client_models(state)`, optional: the local models of the last round, as a dict by the client's number or as rows
      for all clients: the report then names the client that deviates first. Of Ditto and pFedMe these are the personal
      models, which nothing else shows.

    or, for a PyTorch trainer, one function `local_update(model, data, global_model, state)`: see
    `fedconvex.conformance.trainer`, which then plays the server.

    Args:
        method: the method with the implementation's parameters, for example `fc.Scaffold(stepsize=0.1, local_steps=5)`.
        local_solver: the clients' solver, where it differs from the one in the method's paper:
            `fc.GradientDescent(steps=5, stepsize=0.1)` for a FedProx whose clients take gradient steps.
        loss: the clients' functions on r = A_k x − b_k: "half_sum" ½Σr² (default), "sum" Σr², "half_mean" Σr²/(2n_k),
            "mean" Σr²/n_k (torch.nn.MSELoss; the default with `local_update`).
        weights: "samples" (n_k/Σn) or "equal". Default: "samples" for methods that average with weights, "equal" for
            those whose papers write a plain mean (FedSplit, FedDyn, SCAFFOLD, FedPD).
        precision: "float64" or "float32", the implementation's arithmetic; default: that of the vectors it returns.

    Raises:
        InvalidInput: a method whose rounds are random or have more than one correct result; missing functions, or
            values that cannot be called. Errors of the implementation are reported, not raised.
    """
    setup = setup_of(method, local_solver)
    if precision not in (None, *BITS):
        raise InvalidInput("precision", precision, "is unknown", f"choose from {', '.join(BITS)}")
    trains = local_update is not None
    main = round if local_update is None else local_update
    late_clients = main is not None and takes(main, "local_steps")
    references = [
        Reference(setup, scenario)
        for scenario in scenarios(setup, _loss(loss, trains), _weighted(weights, method), late_clients)
    ]
    if trains:
        if any(given is not None for given in (init, round, server_model, client_models)):
            raise InvalidInput("local_update", local_update, "comes with other functions", "give it alone")
        if method.personal is not None:
            problem = f"returns one model, and {type(method).__name__}'s clients have another, a personal one"
            raise InvalidInput("local_update", local_update, problem, "give init, round, server_model, client_models")
        require_callable(local_update, "local_update", "local_update(model, data, global_model, state)")
        assert local_update is not None
        from fedconvex.conformance.trainer import implementation_of

        implementation = implementation_of(setup, references, local_update, precision)
    else:
        require_callable(init, "init", "init(problem, x0) -> state")
        require_callable(round, "round", "round(problem, state, active) -> state")
        require_callable(server_model, "server_model", "server_model(state) -> (d,) array")
        assert init is not None
        assert round is not None
        assert server_model is not None
        implementation = Implementation(init, round, server_model, client_models)
    return examine(setup, references, implementation, precision, clients_only=trains, name=repr(method))


def examine(
    setup: Setup,
    references: Sequence[Reference],
    implementation: Implementation,
    precision: str | None,
    clients_only: bool,
    name: str,
) -> Report:
    """Run the implementation on every scenario, compare it with the references and explain the deviations."""
    runs = [observe(implementation, reference.scenario) for reference in references]
    found = _distinct([*(finding for run in runs for finding in run.findings), *implementation.found])
    dtypes = {dtype for run in runs for dtype in run.dtypes}
    coarse = sorted(dtype for dtype in dtypes if dtype.startswith(("float16", "bfloat16", "float8")))
    bits = BITS[precision] if precision else min((BITS.get(dtype, 53) for dtype in dtypes), default=53)
    if coarse:  # no fault shows through the rounding of 16 bits: report that, and compare at 24
        found.append(
            ConformanceFinding(findings.COARSE, "check it in float32 or float64", f"{', '.join(coarse)} came back")
        )
        bits = BITS["float32"]
    found += _reproducibility(implementation, runs, references, bits)
    deviations = first_deviations(runs, references, bits)
    # results that are not reproducible fit several faults by chance
    erratic = any(finding.name == findings.NOT_DETERMINISTIC for finding in found)
    suspects = Suspects(setup, references, bits, clients_only)
    explanations = suspects.explain(runs, *([1] if erratic else [])) if deviations else []
    single = bool(deviations) and not explanations and bits > BITS["float32"] and in_single_precision(runs)
    if single:
        suspects = Suspects(setup, references, BITS["float32"], clients_only)
        if first_deviations(runs, references, suspects.bits):
            explanations = suspects.explain(runs, *([1] if erratic else []))
        cure = "look for float32, or state precision='float32'"
        found.append(ConformanceFinding(findings.SINGLE, cure, "float64 came back"))
    unexplained = bool(first_deviations(runs, references, suspects.bits)) and not explanations
    if unexplained:
        small = not first_deviations(runs, references, BITS["float32"])
        cure = "look for float32 somewhere" if small else "compare the numbers of the first deviation step by step"
        found.append(ConformanceFinding(findings.UNKNOWN, cure, str(deviations[0])))
    first = explanations[0] if explanations else ()
    diagnosis = [*(_finding(fault) for fault in first if not fault.harmless), *found]
    named = {fault.name for fault in first}
    others = [_finding(fault) for one in explanations[1:] for fault in one if fault.name not in named]
    notes = {note for run in runs for note in run.notes} | {fault.name for fault in first if fault.harmless}
    if _work_varies_unseen(setup, references):
        notes.add(findings.EQUAL_WORK)
    return Report(
        method=name,
        passed=not diagnosis,
        diagnosis=tuple(diagnosis),
        alternatives=tuple(_distinct(others)),
        deviations=deviations,
        notes=tuple(sorted(notes)),
        precision="float32" if suspects.bits == BITS["float32"] else "float64",
        runs=runs,
        references=references,
        suspects=suspects,
        broken=frozenset(fault.breaks for fault in first if not fault.harmless),
        explained=not unexplained,
    )


def in_single_precision(runs: Sequence[ObservedRun]) -> bool:
    """Whether all models that came back are numbers of float32, though not all of few digits."""
    entries = np.concatenate([np.concatenate(run.points) for run in runs if run.points])
    with np.errstate(over="ignore"):
        single = entries.astype(np.float32)
        few = np.float32(entries).astype(np.float16).astype(float) == entries  # says nothing: float16 holds it, too
    return bool((single.astype(float) == entries).all() and (~few).sum() >= LEAST_LONG_NUMBERS)


def _finding(fault: Fault) -> ConformanceFinding:
    return ConformanceFinding(fault.name, fault.cure, fault.detail)


def _work_varies_unseen(setup: Setup, references: Sequence[Reference]) -> bool:
    """Whether clients could do less than the full work, and no scenario has such clients."""
    effort = setup.effort
    return effort is not None and effort > 1 and all(reference.scenario.efforts is None for reference in references)


def _reproducibility(
    implementation: Implementation, runs: Sequence[ObservedRun], references: Sequence[Reference], bits: int
) -> list[ConformanceFinding]:
    """Findings from running one scenario again, and once more with the clients in reverse order."""
    i = next(i for i, reference in enumerate(references) if reference.scenario.name == "different clients")
    tolerances, scenario = references[i].tolerances(bits), references[i].scenario
    again = runs[i].differs_from(observe(implementation, scenario), tolerances)
    if again is not None:
        cure = "seed what is random from the round, and keep nothing outside the state between runs"
        return [ConformanceFinding(findings.NOT_DETERMINISTIC, cure, f"from round {again} of '{scenario.name}'")]
    reversed_order = runs[i].differs_from(observe(implementation, scenario, backwards=True), tolerances)
    if reversed_order is not None:
        cure = "give each client a model, memory and optimiser of its own, and the server's numbers before the round"
        return [ConformanceFinding(findings.ORDER, cure, f"from round {reversed_order} of '{scenario.name}'")]
    return []


def first_deviations(runs: Sequence[ObservedRun], references: Sequence[Reference], bits: int) -> tuple[Deviation, ...]:
    """Where each run leaves the exact trajectory, the largest deviation relative to its tolerance first."""
    found = (_first_deviation(run, reference, bits) for run, reference in zip(runs, references, strict=True))
    deviations = [deviation for deviation in found if deviation is not None]
    return tuple(sorted(deviations, key=lambda deviation: -deviation.size / deviation.tolerance))


def _first_deviation(run: ObservedRun, reference: Reference, bits: int) -> Deviation | None:
    """The first gross deviation of a run; within a round clients come before the server."""
    tolerances, found = reference.tolerances(bits), list[Deviation]()
    for t, point in enumerate(run.points):
        pairs: list[tuple[int | None, np.ndarray, np.ndarray]] = []
        if 0 < t <= len(run.clients):
            exact = reference.moments[t - 1].clients
            pairs = [(k, run.clients[t - 1][k], exact[k]) for k in sorted(run.clients[t - 1]) if k in exact]
        for client, seen, expected in [*pairs, (None, point, reference.points[t])]:
            size = float(np.abs(seen - expected).max())
            if not size <= tolerances[t]:  # NaN is a deviation, too
                row, exactly, tolerance = tuple(seen.tolist()), tuple(expected.tolist()), float(tolerances[t])
                found.append(Deviation(reference.scenario.name, t, client, exactly, row, size, tolerance))
    # rounding in single precision may come before a fault that is grosser by far: it is not where to look first
    gross = GROSS * max((deviation.size / deviation.tolerance for deviation in found), default=0.0)
    return next((deviation for deviation in found if not deviation.size / deviation.tolerance < gross), None)


def _distinct(found: Any) -> list[ConformanceFinding]:
    """The first finding of each name."""
    first: dict[str, ConformanceFinding] = {}
    for finding in found:
        first.setdefault(finding.name, finding)
    return list(first.values())


def _loss(loss: str | None, trains: bool) -> str:
    return loss if loss is not None else "mean" if trains else "half_sum"


def _weighted(weights: str | None, method: Method) -> bool:
    if weights not in (None, "samples", "equal"):
        raise InvalidInput("weights", weights, "is unknown", "choose 'samples' or 'equal'")
    if weights == "samples" and method.plain:
        problem = f"does not go with {type(method).__name__}, whose paper writes a plain mean over the clients"
        raise InvalidInput("weights", weights, problem, "leave it out")
    return not method.plain if weights is None else weights == "samples"
