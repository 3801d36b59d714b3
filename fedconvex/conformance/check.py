"""The conformance check: run an implementation on small exact problems, compare it with the method, name its faults."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from fedconvex.conformance import findings
from fedconvex.conformance.buffers import notes_on as notes_on_buffers
from fedconvex.conformance.coverage import coverage_of
from fedconvex.conformance.diagnosis import Suspects, indistinguishable
from fedconvex.conformance.findings import ConformanceFinding
from fedconvex.conformance.guard import Guard, seconds_of
from fedconvex.conformance.identification.edits import Edit
from fedconvex.conformance.identification.identify import MOST_EDITS
from fedconvex.conformance.implementation import BITS, COARSE, Implementation, ObservedRun, observe
from fedconvex.conformance.losses import CROSS_ENTROPY
from fedconvex.conformance.reference import Part, Reference
from fedconvex.conformance.report import Report, first_deviation, first_deviations, grossest_first
from fedconvex.conformance.scenarios import Scenario, confirming_scenario, scenarios, shuffled_scenarios
from fedconvex.conformance.setup import Setup, require_known_batches, require_small_steps, setup_of
from fedconvex.conformance.shapes import CodeShape, implementation_of, knows_batches, shape_of, varies_work
from fedconvex.conformance.shuffling import MOST_ORDERS, examined, notes_on, number_of_orders
from fedconvex.errors import InvalidInput
from fedconvex.local_solvers.base import LocalSolver
from fedconvex.methods.base import Method
from fedconvex.methods.fedadmm import FedADMM
from fedconvex.methods.feddyn import DynamicRegularization
from fedconvex.methods.scaffold import Scaffold

WITH_A_WEIGHTED_FORM = (Scaffold, DynamicRegularization, FedADMM)  # every mean of theirs can have weights n_k/Σn
LEAST_LONG_NUMBERS = 8  # of numbers of float32, before single precision is named


def check(
    method: Method,
    *,
    init: Callable[..., Any] | None = None,
    round: Callable[..., Any] | None = None,
    server_model: Callable[..., Any] | None = None,
    client_models: Callable[..., Any] | None = None,
    run: Callable[..., Any] | None = None,
    client: Callable[..., Any] | None = None,
    server: Callable[..., Any] | None = None,
    broadcast: Callable[..., Any] | None = None,
    local_update: Callable[..., Any] | None = None,
    local_solver: LocalSolver | None = None,
    loss: str | None = None,
    weights: str | None = None,
    precision: str | None = None,
    shuffled: bool = False,
    time_limit: float | None = 60.0,
) -> Report:
    """Compare an implementation of `method` with the exact trajectory on small problems, and name what it does wrong.

    Use it on a new implementation, or on a framework before you trust its results; in a test suite, `conforms_to`. It
    checks the algorithm on deterministic rounds of full-batch steps, and neither speed nor sampling nor data loading.

    Pass three functions:

    * `init(problem, x0) -> state`: problem has `A`, `b` (lists of the clients' data, (n_k, 2) and (n_k,) float64),
      `weights` and `num_clients`; x0 is the server's first model, (d,). The state is yours: any object.
    * `round(problem, state, active) -> state`: one round in which the clients of the list `active` take part. Working
      on the state in place is fine; return it. If it has an argument `local_steps`, it is also checked with clients
      that do less work: `local_steps[i]` is the number of steps (or epochs) of client `active[i]`.
    * `server_model(state)`: the server's model, (d,), a list, NumPy array or torch tensor; or its parts, which are
      joined: a module, a dict or list of arrays.
    * `client_models(state)`, optional: the local models of the last round, as a dict by the client's number or as rows
      for all clients: the report then names the client that deviates first. Of Ditto and pFedMe these are the personal
      models, which nothing else shows.

    or what fits the code better:

    * `run(problem, x0, rounds)`, code that runs all rounds by itself: see `fedconvex.conformance.shapes`;
    * `client(problem, k, model, state)`, the clients' part alone, or for a PyTorch trainer
      `local_update(model, data, global_model, state)`; the kit plays the server: see
      `fedconvex.conformance.client_part` and `fedconvex.conformance.trainer`;
    * `server(problem, state, replies) -> state` with `init` and `server_model`, the server's part alone, such as a
      framework's strategy; the kit plays the clients: see `fedconvex.conformance.server_part`.

    Args:
        method: the method with the implementation's parameters, for example `fc.Scaffold(stepsize=0.1, local_steps=5)`.
        local_solver: the clients' solver, where it differs from the one in the method's paper:
            `fc.GradientDescent(steps=5, stepsize=0.1)` for a FedProx whose clients take gradient steps.
        loss: the clients' functions on r = A_k x − b_k: "half_sum" ½Σr² (default), "sum" Σr², "half_mean" Σr²/(2n_k),
            "mean" Σr²/n_k (torch.nn.MSELoss; the default with `local_update`). "cross_entropy" is classification:
            problem.b has int64 labels below problem.num_classes, and the model is that of torch.nn.Linear, its weight
            (num_classes, 2) row by row and then its bias in one vector, under torch.nn.CrossEntropyLoss().
        weights: "samples" (n_k/Σn) or "equal". Default: "samples" for methods that average with weights, "equal" for
            those whose papers write a plain mean (FedSplit, FedDyn, SCAFFOLD, FedPD). "samples" with SCAFFOLD, FedDyn
            or FedADMM states their weighted form: every mean over clients, the server's memory included, has weights
            n_k/Σn, and clients minimise f_k.
        precision: "float64" or "float32", the implementation's arithmetic; default: that of the vectors it returns.
        shuffled: clients with mini-batches (`SGD` or `FedAvg` with a batch_size) shuffle their samples by themselves.
            Each round is then compared with all orders of a few samples: see `fedconvex.conformance.shuffling`. Else
            the functions take an argument `batches` and visit these: for each active client a list of lists of indices.
        time_limit: the seconds that the implementation may take on one problem, > 0; None: no limit. Code that waits in
            a library's native call, or catches every exception in an endless loop, cannot be ended from within Python.

    Raises:
        InvalidInput: a method whose rounds are random or have more than one correct result; missing functions, or
            values that cannot be called. Errors of the implementation are reported, not raised.
    """
    setup, guard = setup_of(method, local_solver), Guard(seconds_of(time_limit))
    if precision not in (None, *BITS):
        raise InvalidInput("precision", precision, "is unknown", f"choose from {', '.join(BITS)}")
    functions = {
        "init": init,
        "round": round,
        "server_model": server_model,
        "client_models": client_models,
        "run": run,
        "client": client,
        "server": server,
        "broadcast": broadcast,
        "local_update": local_update,
    }
    shape = shape_of(functions)
    if shape.part == "clients" and method.personal is not None:
        problem = f"returns one model, and {type(method).__name__}'s clients have another, a personal one"
        raise InvalidInput(shape.main, functions[shape.main], problem, "give init, round, server_model, client_models")
    if not isinstance(shuffled, bool):
        raise InvalidInput("shuffled", shuffled, "is neither True nor False", "state whether the code shuffles")
    has_batches = setup.most_batches > 1 or (shuffled and getattr(setup.solver, "batch_size", None) is not None)
    loss = _loss(loss, shape, has_batches)
    if shuffled and shape.main != "server" and knows_batches(shape, functions):
        raise InvalidInput("shuffled", shuffled, "contradicts the argument `batches`", "leave one of them out")
    if has_batches:
        require_known_batches(setup, shuffled or knows_batches(shape, functions), loss)
    if loss == CROSS_ENTROPY:
        require_small_steps(setup)
    weighted, shuffles = _weighted(weights, method), shuffled and shape.main != "server"
    setup = replace(setup, weighted=weighted and method.plain)
    late = varies_work(shape, functions)
    made = scenarios(setup, loss, weighted, late_clients=late, shuffled=shuffles)
    confirming = confirming_scenario(setup, loss, weighted, late, shuffles, longer=shape.part == "both")
    # a run that returns its last model alone draws anew where it is run again for the rounds before
    rounds = 1 if shape.main == "run" else 2
    others = shuffled_scenarios(setup, loss, weighted, rounds) if shuffles else ()
    references = [Reference(setup, scenario) for scenario in (*made, confirming, *others)]
    implementation = implementation_of(shape, functions, setup, references, precision)
    known, confirm = references[: len(made)], references[len(made)]
    report = examine(setup, known, confirm, implementation, guard, precision, shape.part, name=repr(method))
    return _with_shuffled(report, setup, others, implementation, guard)


def examine(
    setup: Setup,
    references: Sequence[Reference],
    confirm: Reference,
    implementation: Implementation,
    guard: Guard,
    precision: str | None,
    part: Part,
    name: str,
) -> Report:
    """Run the implementation on every scenario, compare it with the references and explain the deviations.

    The scenario of `confirm` runs only where there are some: every diagnosis must hold there, too.
    """
    runs = [observe(implementation, reference.scenario, guard) for reference in references]
    found = _distinct([*(finding for run in runs for finding in run.findings), *implementation.found])
    dtypes = {dtype for run in runs for dtype in run.dtypes}
    coarse = sorted(dtype for dtype in dtypes if dtype.startswith(COARSE))
    bits = BITS[precision] if precision else min((BITS.get(dtype, 53) for dtype in dtypes), default=53)
    if coarse:  # no fault shows through the rounding of 16 bits: report that, and compare at 24
        found.append(
            ConformanceFinding(findings.COARSE, "check it in float32 or float64", f"{', '.join(coarse)} came back")
        )
        bits = BITS["float32"]
    found += _reproducibility(implementation, runs, references, guard, bits)
    deviations = first_deviations(runs, references, bits)
    # results that are not reproducible fit several faults by chance
    erratic = any(finding.name == findings.NOT_DETERMINISTIC for finding in found)
    suspects = Suspects(setup, references, bits, part)
    most = 1 if erratic else MOST_EDITS
    more = [(confirm, observe(implementation, confirm.scenario, guard))] if deviations and not erratic else []
    explanations = suspects.explain(runs, more, most) if deviations else []
    single = bool(deviations) and not explanations and bits > BITS["float32"] and in_single_precision(runs)
    if single:
        suspects = Suspects(setup, references, BITS["float32"], part)
        if first_deviations(runs, references, suspects.bits):
            explanations = suspects.explain(runs, more, most)
        cure = "look for float32 and for constants with few digits, or state precision='float32'"
        found.append(ConformanceFinding(findings.SINGLE, cure, "float64 came back"))
    unexplained = bool(first_deviations(runs, references, suspects.bits)) and not explanations
    if unexplained:
        small = not first_deviations(runs, references, BITS["float32"])
        cure = "look for float32 somewhere" if small else "compare the numbers of the first deviation step by step"
        found.append(ConformanceFinding(findings.UNKNOWN, cure, str(deviations[0])))
    first = explanations[0] if explanations else ()
    others_alike = [one for one in explanations[1:] if indistinguishable(first, one)]
    diagnosis = [*(_finding(fault, first, others_alike) for fault in first if not fault.harmless), *found]
    named = {fault.name for fault in first}
    others = [_finding(fault) for one in explanations[1:] for fault in one if fault.name not in named]
    notes = {note for run in runs for note in run.notes} | {fault.name for fault in first if fault.harmless}
    notes.update(notes_on_buffers(runs))
    if _work_varies_unseen(setup, references):
        notes.add(findings.EQUAL_WORK)
    return Report(
        method=name,
        covered=coverage_of(setup, runs, part),
        diagnosis=tuple(diagnosis),
        alternatives=tuple(_distinct(others)),
        deviations=deviations,
        notes=tuple(sorted(notes) + _printed(guard)),
        precision="float32" if suspects.bits == BITS["float32"] else "float64",
        runs=runs,
        references=references,
        suspects=suspects,
        broken=frozenset(fault.breaks for fault in first if not fault.harmless),
        doubtful=frozenset(fault.breaks for one in others_alike for fault in one),
        explained=not unexplained,
        explanations=tuple(tuple(fault.name for fault in one) for one in explanations),
    )


def in_single_precision(runs: Sequence[ObservedRun]) -> bool:
    """Whether all models that came back are numbers of float32, though not all of few digits."""
    entries = np.concatenate([np.concatenate(run.points) for run in runs if run.points])
    with np.errstate(over="ignore"):
        single = entries.astype(np.float32)
        few = np.float32(entries).astype(np.float16).astype(float) == entries  # says nothing: float16 holds it, too
    return bool((single.astype(float) == entries).all() and (~few).sum() >= LEAST_LONG_NUMBERS)


def _finding(fault: Edit, among: Sequence[Edit] = (), alike: Sequence[Sequence[Edit]] = ()) -> ConformanceFinding:
    """The finding of a fault, with those that stand in its place in sets of faults with the same numbers."""
    rest = {one.name for one in among} - {fault.name}
    same = [one for faults in alike if rest <= {f.name for f in faults} for one in faults if one.name not in rest]
    same = [one for one in same if one.name != fault.name]
    cures = dict.fromkeys((fault.cure, *(one.cure for one in same)))
    return ConformanceFinding(fault.name, "; or: ".join(cures), fault.detail, tuple(one.name for one in same))


def _work_varies_unseen(setup: Setup, references: Sequence[Reference]) -> bool:
    """Whether clients could do less than the full work, and no scenario has such clients."""
    effort = setup.effort
    return effort is not None and effort > 1 and all(reference.scenario.efforts is None for reference in references)


def _reproducibility(
    implementation: Implementation,
    runs: Sequence[ObservedRun],
    references: Sequence[Reference],
    guard: Guard,
    bits: int,
) -> list[ConformanceFinding]:
    """Findings from running one scenario again, and once more with the clients in reverse order."""
    i = next(i for i, reference in enumerate(references) if reference.scenario.name == "different clients")
    tolerances, scenario = references[i].tolerances(bits), references[i].scenario
    again = runs[i].differs_from(observe(implementation, scenario, guard), tolerances)
    if again is not None:
        cure = "seed what is random from the round, and keep nothing outside the state between runs"
        drawn = f"; it draws from {', '.join(sorted(guard.drawn_from))}" if guard.drawn_from else ""
        return [ConformanceFinding(findings.NOT_DETERMINISTIC, cure, f"from round {again} of '{scenario.name}'{drawn}")]
    reversed_order = runs[i].differs_from(observe(implementation, scenario, guard, backwards=True), tolerances)
    if reversed_order is not None:
        cure = "give each client a model, memory and optimiser of its own, and the server's numbers before the round"
        return [ConformanceFinding(findings.ORDER, cure, f"from round {reversed_order} of '{scenario.name}'")]
    return []


def _with_shuffled(
    report: Report, setup: Setup, others: Sequence[Scenario], implementation: Implementation, guard: Guard
) -> Report:
    """The report, after runs over shuffled batches; what is wrong without them explains what is wrong with them."""
    few = [scenario for scenario in others if number_of_orders(setup, scenario) <= MOST_ORDERS]
    if not others:
        return report
    bits = report.suspects.bits
    seen = [
        examined(setup, scenario, observe(implementation, scenario, guard), partial(first_deviation, bits=bits))
        for scenario in few
    ]
    runs, references = [one.run for one in seen], [one.reference for one in seen]
    found = [finding for one in seen for finding in (*one.run.findings, *one.findings)]
    diagnosis = (*report.diagnosis, *(_distinct(found) if not report.diagnosis or not report.explained else ()))
    return replace(
        report,
        diagnosis=diagnosis,
        deviations=grossest_first((*report.deviations, *first_deviations(runs, references, bits))),
        notes=(*report.notes, *notes_on(seen, [scenario for scenario in others if scenario not in few])),
        covered=report.covered if few else report.covered.without(findings.TOO_MANY_ORDERS),
        runs=[*report.runs, *runs],
        references=[*report.references, *references],
    )


def _printed(guard: Guard) -> list[str]:
    return [f"{findings.PRINTS} ('{line}'): what it prints goes to the standard error" for line in guard.printed[:1]]


def _distinct(found: Any) -> list[ConformanceFinding]:
    """The first finding of each name."""
    first: dict[str, ConformanceFinding] = {}
    for finding in found:
        first.setdefault(finding.name, finding)
    return list(first.values())


def _loss(loss: str | None, shape: CodeShape, has_batches: bool) -> str:
    """The loss; where it is not stated torch's for PyTorch trainers and for mini-batches."""
    if loss is not None:
        return loss
    return "mean" if shape.main == "local_update" or has_batches else "half_sum"


def _weighted(weights: str | None, method: Method) -> bool:
    if weights not in (None, "samples", "equal"):
        raise InvalidInput("weights", weights, "is unknown", "choose 'samples' or 'equal'")
    if weights == "samples" and method.plain and not isinstance(method, WITH_A_WEIGHTED_FORM):
        problem = f"does not go with {type(method).__name__}, whose paper writes a plain mean over the clients"
        raise InvalidInput("weights", weights, problem, "leave it out")
    return not method.plain if weights is None else weights == "samples"
