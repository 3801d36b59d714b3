"""The edits of the methods: unique names, each shows where it can, any can be made together; the guide's list."""

import runpy
from pathlib import Path

import numpy as np
import pytest

import fedconvex as fc
from fedconvex.conformance.diagnosis import Suspects
from fedconvex.conformance.identification import edits
from fedconvex.conformance.identification.agreement import Agreement
from fedconvex.conformance.identification.edits import EVERY_EDIT
from fedconvex.conformance.identification.formulas import function_of
from fedconvex.conformance.identification.play import Candidate, CandidateRounds
from fedconvex.conformance.implementation import ObservedRun
from fedconvex.conformance.reference import Part, Reference
from fedconvex.conformance.scenarios import scenarios
from fedconvex.conformance.setup import Setup, setup_of
from fedconvex.local_solvers.base import LocalSolver
from fedconvex.methods import Method
from fedconvex.safe_text import in_markdown_table

pytestmark = pytest.mark.beyond_core  # takes seconds

ROOT = Path(__file__).resolve().parents[3]
TABLE = runpy.run_path(str(ROOT / "docs" / "making" / "faults_table.py"))
SETUPS = [pytest.param(method, solver, id=f"{name}-{i}") for i, (name, method, solver) in enumerate(TABLE["METHODS"])]
NONE = edits.Edit(name="", cure="", breaks="", applies=lambda setup: True)


def suspects_of(method: Method, solver: LocalSolver | None, loss: str = "half_sum") -> Suspects:
    setup = setup_of(method, solver)
    references = [Reference(setup, one) for one in scenarios(setup, loss, not method.plain, late_clients=True)]
    return Suspects(setup, references, 53)


# Exact solutions have no formula with a cross-entropy.
OF_LOSSES = [(*one.values, loss) for loss in ("half_sum", "cross_entropy") for one in SETUPS
             if loss == "half_sum" or setup_of(*one.values).path_length is not None]  # fmt: skip


@pytest.mark.sample(4)
@pytest.mark.parametrize(("method", "solver", "loss"), OF_LOSSES)
def test_the_method_without_edits_is_the_exact_trajectory(method: Method, solver: LocalSolver, loss: str) -> None:
    """The rounds of many candidates at once, by another route than the reference's rationals and balls."""
    suspects = suspects_of(method, solver, loss)
    for reference in suspects.references:
        tolerances = reference.tolerances(53)
        for t, models in enumerate(CandidateRounds(suspects.setup, reference.scenario, [(NONE,)] * 3)):
            right = reference.moments[t]
            pairs = [(models.server, right.server), *((x, right.clients[k]) for k, x in models.clients.items())]
            assert all(np.abs(x - y).max() <= tolerances[t + 1] for x, y in pairs)


@pytest.mark.sample(2)
@pytest.mark.parametrize(("method", "solver"), SETUPS)
def test_names_are_unique_and_every_edit_shows(method: Method, solver: LocalSolver | None) -> None:
    """But for those that the method's parameters make invisible, which are said."""
    suspects = suspects_of(method, solver)
    names = [edit.name for edit in suspects.edits]
    assert len(set(names)) == len(names)
    hidden = {name for name, seen in suspects.seen_in.items() if not seen}
    no_effect = {"it agrees with server_stepsize replaced by 1/server_stepsize"}  # where it is 1
    if suspects.setup.effort == 1:  # one step from the centre feels no pull
        no_effect |= {name for name in names if "the proximal" in name}
    if isinstance(method, fc.Ditto):  # whose personal models the server does not see
        no_effect |= {name for name in names if "personal models are" in name or "personal models start" in name}
        no_effect |= {name for name in names if "regularization replaced" in name}
    harmless = {edit.name for edit in suspects.edits if edit.harmless}
    assert hidden - harmless <= no_effect


@pytest.mark.sample(6)
@pytest.mark.parametrize(("method", "solver"), SETUPS)
@pytest.mark.parametrize("part", ["both", "clients", "server"])
def test_candidates_do_not_depend_on_those_beside_them(method: Method, solver: LocalSolver, part: Part) -> None:
    """Also where some of them have dropped out: each alone computes what it does among all others."""
    suspects, draw = suspects_of(method, solver), np.random.default_rng(2)
    known = [(e if e.number is None else e.with_value(e.number.starts[0], suspects.setup),) for e in suspects.edits]
    references = [reference for reference in suspects.references if len(reference.scenario.rounds) < 6]
    agreement = Agreement(suspects.setup, references, (), 53, part)
    runs = [run_of(agreement.setup, reference, known[int(draw.integers(len(known)))], part) for reference in references]
    agreement.runs = runs
    agreement.__post_init__()
    together = agreement.explained(known)
    for place in draw.choice(len(known), size=10, replace=False):
        (alone,) = agreement.explained([known[place]])
        assert (alone.frontier, alone.complete) == (together[place].frontier, together[place].complete), known[place]


def run_of(setup: Setup, reference: Reference, candidate: Candidate, part: Part) -> ObservedRun:
    """The run of an implementation that does what the candidate does."""
    run = ObservedRun(reference.scenario, [reference.scenario.first_point])
    for models in CandidateRounds(setup, reference.scenario, [candidate], part):
        run.points.append(models.server[0])
        run.clients.append({k: x[0] for k, x in models.clients.items()})
    return run


@pytest.mark.sample(2)
@pytest.mark.parametrize(("method", "solver"), SETUPS)
def test_edits_can_be_made_together(method: Method, solver: LocalSolver | None) -> None:
    """Two to five at random, with numbers where they have some, in any run."""
    suspects, draw = suspects_of(method, solver), np.random.default_rng(1)
    known = [e if e.number is None else e.with_value(e.number.starts[0], suspects.setup) for e in suspects.edits]
    agreement = Agreement(suspects.setup, suspects.references, (), 53, "both")
    chosen = []
    for size in (2, 3, 4, 5) * 10:
        places = sorted(draw.choice(len(known), size=size, replace=False))
        chosen.append(tuple(known[place] for place in places))
    assert len(agreement.shows(chosen)) == len(chosen)


def test_every_edit_belongs_to_a_method_and_breaks_a_property() -> None:
    for edit in EVERY_EDIT:
        assert TABLE["methods_with"](edit) or "regularization" in edit.name, edit.name
        assert edit.breaks in edits.PROPERTIES.values()
        assert edit.cure


def test_the_guide_s_table_has_every_fault_and_method() -> None:
    rows = [line.split(" | ") for line in TABLE["table"]().splitlines() if line.startswith("| ")]
    names = {in_markdown_table(edit.name.format("…", "the one given")) for edit in EVERY_EDIT}
    assert {row[0][2:] for row in rows} >= names
    named = {name for row in rows for name in row[1].removesuffix(" |").split(", ")}
    assert named >= {name for name, *_ in TABLE["METHODS"]} | {"all"}


@pytest.mark.parametrize("text", ["[].append(1)", "lambda: 0", "{**x}", "x if True else [x for x in v]", "f(a=1)"])
def test_formulas_are_read_and_not_executed(text: str) -> None:
    """Names, numbers, operators and calls of the vocabulary, as the table needs them; nothing else."""
    with pytest.raises(ValueError, match="no part of a formula"):
        function_of(text, {})
    assert function_of("w + 2 * (x - w) if x > w else -x", {"w": 1})(None, 3) == 5
