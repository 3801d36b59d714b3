"""`fedconvex landscape` as a user runs it."""

import json
import re
from typing import Any

import pytest
from command_runner import running

pytestmark = pytest.mark.beyond_core  # loads the proofs
Run = Any
run = running("landscape")


def test_options_keep_the_results_of_a_setting(run: Run) -> None:
    out = run.prints("FedGD", "--strongly-convex", "--partial-participation", "--no-bounded-dissimilarity", "--json")
    found = json.loads(out)
    assert {entry["identifier"] for entry in found} >= {"gower.troundspofmclients", "gower.troundsindependentdraws"}
    for entry in found:
        assert (entry["clients"], entry["participation"]) == ("strongly convex", "some clients")
        assert entry["heterogeneity"] == ""
        assert entry["verdict"].startswith("proved, ")
    of_gower = [entry for entry in found if entry["identifier"].startswith("gower.")]
    assert all(entry["verdict"] == "proved, restated" and 0 < float(entry["used"]) <= 1 for entry in of_gower)


def test_text_and_json_are_about_the_same_results(run: Run) -> None:
    entries = {entry["identifier"] for entry in json.loads(run("scaffnew", "--json")[1])}
    assert entries == {"scaffnew.acceleration"}
    assert set(re.findall(r"^  ([\w.]+):", run("SCAFFNEW")[1], re.MULTILINE)) == entries


def test_several_classes_keep_those_of_any(run: Run) -> None:
    kinds = [("--convex",), ("--strongly-convex",), ("--convex", "--strongly-convex")]
    one, other, both = ({e["identifier"] for e in json.loads(run("FedLin", *k, "--json")[1])} for k in kinds)
    assert both == one | other
    assert other
    assert not one


def test_the_status_is_1_where_nothing_is_known(run: Run) -> None:
    status, out, err = run("FedLin", "--partial-participation")
    assert (status, err) == (1, "")
    assert out == "No result of the catalogue is about that setting.\n"


def test_an_unknown_method_has_its_nearest_name(run: Run) -> None:
    assert "did you mean Scaffnew?" in run.refuses("scaffnu")
