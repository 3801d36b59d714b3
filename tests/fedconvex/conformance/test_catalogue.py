"""The catalogue: unique names, faults that show and that can be planted together; the guide's table is up to date."""

import itertools
import runpy
from pathlib import Path

import numpy as np
import pytest

import fedconvex as fc
from fedconvex.conformance.comparison import moments
from fedconvex.conformance.diagnosis import Suspects
from fedconvex.conformance.faults import base, catalogue
from fedconvex.conformance.reference import Reference
from fedconvex.conformance.scenarios import scenarios
from fedconvex.conformance.setup import setup_of
from fedconvex.local_solvers.base import LocalSolver
from fedconvex.methods import Method

pytestmark = pytest.mark.beyond_core  # takes seconds

ROOT = Path(__file__).resolve().parents[3]
TABLE = runpy.run_path(str(ROOT / "docs" / "making" / "faults_table.py"))
SETUPS = [pytest.param(method, solver, id=f"{name}-{i}") for i, (name, method, solver) in enumerate(TABLE["METHODS"])]


def suspects_of(method: Method, solver: LocalSolver | None) -> Suspects:
    setup = setup_of(method, solver)
    references = [Reference(setup, one) for one in scenarios(setup, "half_sum", not method.plain, late_clients=True)]
    return Suspects(setup, references, 53)


@pytest.mark.sample(2)
@pytest.mark.parametrize(("method", "solver"), SETUPS)
def test_names_are_unique_and_every_fault_shows(method: Method, solver: LocalSolver | None) -> None:
    """But for those that the method's parameters make invisible, which are said."""
    suspects = suspects_of(method, solver)
    names = [fault.name for fault in suspects.faults]
    assert len(set(names)) == len(names)
    hidden = {name for name, seen in suspects.seen_in.items() if not seen}
    no_effect = {"it agrees with server_stepsize replaced by 1/server_stepsize"}  # where it is 1
    if suspects.setup.effort == 1:  # one step from the centre feels no pull
        no_effect |= {name for name in names if "the proximal" in name}
    if isinstance(method, fc.Ditto):  # whose personal models the server does not see
        no_effect |= {name for name in names if "personal models are" in name or "personal models start" in name}
        no_effect |= {name for name in names if "regularization replaced" in name}
    assert hidden <= no_effect


@pytest.mark.sample(5)
@pytest.mark.parametrize(("method", "solver"), SETUPS)
def test_two_faults_can_be_planted_together(method: Method, solver: LocalSolver | None) -> None:
    suspects = suspects_of(method, solver)
    pairs = list(itertools.combinations(suspects.faults, 2))
    for i in np.random.default_rng(0).choice(len(pairs), size=60, replace=False):
        assert sum(1 for _ in moments(suspects.setup, suspects.references[4], pairs[i], part="both")) > 0


@pytest.mark.sample(3)
@pytest.mark.parametrize(("method", "solver"), SETUPS)
def test_several_faults_can_be_planted_together(method: Method, solver: LocalSolver | None) -> None:
    suspects, draw = suspects_of(method, solver), np.random.default_rng(1)
    for size in (3, 4, 5) * 20:
        chosen = [suspects.faults[i] for i in sorted(draw.choice(len(suspects.faults), size=size, replace=False))]
        assert sum(1 for _ in moments(suspects.setup, suspects.references[0], chosen, part="both")) > 0


def test_a_proximal_term_that_is_gone_can_be_halved_and_centred_elsewhere() -> None:
    """An integer's half is a float, which no rational number can be multiplied by: once the search stopped there."""
    suspects = suspects_of(fc.FedDyn(alpha=0.5), fc.GradientDescent(steps=3, stepsize=0.1))
    gone = ("the proximal term is always zero", "the proximal term is halved twice")
    names = (*gone, "the proximal term pulls to the server's model of the round before")
    chosen = [fault for fault in suspects.faults if fault.name in names]
    assert len(chosen) == 3
    assert sum(1 for _ in moments(suspects.setup, suspects.references[0], chosen, part="both")) > 1


def test_every_fault_belongs_to_a_method_and_breaks_a_property() -> None:
    known = {value for name, value in vars(base).items() if name.isupper()}
    for fault in catalogue():
        assert TABLE["methods_with"](fault) or "regularization" in fault.name, fault.name
        assert fault.breaks in known
        assert fault.cure


def test_the_guide_has_the_table() -> None:
    text = TABLE["PAGE"].read_text("utf-8")
    assert TABLE["page"](text) == text, "run python docs/making/faults_table.py"
