"""Published tables contain numbers, row by row; an experiment that extends another states only the differences."""

from pathlib import Path
from typing import Any

import pandas
import pytest

from fedconvex.errors import InvalidInput
from fedconvex.reproduce.metrics import ExperimentMetrics
from fedconvex.reproduce.specification import Experiment, read
from fedconvex.reproduce.summary import CONTRADICTED, NOT_TESTABLE, REPRODUCED, _verdict, number_table, summarise

TABLE = """
id = "test.table"
title = "rounds to an accuracy"
source = "nowhere, Table 1"
about = "small"
runner = "deep"
seconds = 1
quick_seconds = 1
needs = ["mnist"]

[run]
rounds = 5
test = 0.2
participation = { name = "Uniform", K = 2 }

[data]
near = { name = "mnist", clients = 9, partition = "iid" }
far = { name = "mnist", clients = 9, partition = "dirichlet:3" }

[methods]
FedAvg = { name = "FedProx", mu = 0 }
SCAFFOLD = { name = "Scaffold", stepsize = 1 }

[published]
methods = ["SCAFFOLD", "FedAvg"]
source = "Table 1"
within = 2
why = "small"

[published.rows]
near = { "98.2" = [4, 3], "97.2" = [2, 2] }
far = { "57" = [8, "more than 5"] }

[quick]
digits = 4
note = "digits"
figure = { levels = { near = [0.9, 0.5], far = [0.25] } }

[[claims]]
claim = "the lower the sooner"
source = "Table 1"
each = { data = "data", method = "methods" }
holds = "models(0, data, method) >= 1"

[[choices]]
open = "all"
choice = "that"
each = { data = ["near"], method = "methods" }
effect = { "" = "models(1, data, method)", half = "models(1, data, method) / 2" }
"""
LIKE = """
id = "test.other"
like = "test"
title = "of another kind"
source = "nowhere, Table 2"
seconds = 2
quick_seconds = 3

[run]
participation = { K = 3 }

[data]
else = { name = "mnist", clients = 3 }

[published]
source = "Table 2"

[published.rows]
else = { "10.5" = [6, 7] }
"""
ACCURACIES = {"FedAvg": [0.1, 0.5, 0.972, 0.982, 0.9, 1.0], "SCAFFOLD": [0.1, 0.4, 0.6, 0.6, 0.6, 0.981]}


@pytest.fixture
def other(tmp_path: Path) -> Any:
    """The experiment of a file that is like TABLE, with other files beside it."""

    def write(text: str, **beside: str) -> Experiment:
        for name, content in {"other": text, "test": TABLE, **beside}.items():
            (tmp_path / f"{name}.toml").write_text(content, "utf-8")
        return read(tmp_path / "other.toml")

    return write


def summary_of(experiment: Experiment, seeds: int = 1) -> dict[str, Any]:
    """With these accuracies; seed s is s rounds later."""
    rows = [
        {"problem": data, "method": method, "seed": seed, "round": t, "test_accuracy": curve[max(t - seed, 0)]}
        for data in experiment.data for method, curve in ACCURACIES.items() for seed in range(seeds) for t in range(6)
    ]  # fmt: skip
    return summarise(ExperimentMetrics(experiment, pandas.DataFrame(rows)), experiment)


def test_every_entry_is_a_number(written: Any) -> None:
    numbers = summary_of(written(TABLE))["numbers"]
    assert [(row["what"], row["published"], row["ours"], row["agrees"]) for row in numbers] == [
        ("near, 98.2 %: SCAFFOLD", 4, "not reached", False),
        ("near, 98.2 %: FedAvg", 3, 3, True),
        ("near, 97.2 %: SCAFFOLD", 2, 10, False),  # 5 rounds, two models each
        ("near, 97.2 %: FedAvg", 2, 2, True),
        ("far, 57 %: SCAFFOLD", 8, 4, True),
        ("far, 57 %: FedAvg", "more than 5", 2, None),
    ]
    assert {(row["source"], row["why"]) for row in numbers} == {("Table 1", "small")}


def test_several_seeds_show_their_range(written: Any) -> None:
    """What takes FedAvg 3 models takes it 3 to 5; what no run reaches has no range."""
    numbers = summary_of(written(TABLE.replace("rounds = 5", "rounds = 5\nseeds = 3")), 3)["numbers"]
    shown = {row[0]: row[3] for row in number_table({"numbers": numbers}).rows}
    assert (shown["near, 98.2 %: FedAvg"], shown["near, 98.2 %: SCAFFOLD"]) == ("4 (3 to 5)", "not reached")
    assert shown["near, 97.2 %: SCAFFOLD"] == "not reached (10 to not reached)"  # two of the three end too early
    assert not any("range" in row for row in summary_of(written(TABLE))["numbers"])


def test_levels_are_those_that_are_printed(written: Any) -> None:
    assert written(TABLE).figure["levels"] == {"near": [0.982, 0.972], "far": [0.57]}
    assert written(TABLE.replace("98.2", "98.3")).figure["levels"]["near"][0] == 0.983


def test_the_quick_version_says_which_levels_it_asks_for(written: Any) -> None:
    experiment = written(TABLE, quick=True)
    assert experiment.data["far"] == {"family": "far", "name": "digits", "clients": 4, "partition": "dirichlet:3"}
    assert experiment.needs == ()
    numbers = summary_of(experiment)["numbers"]
    assert [row["what"] for row in numbers if row["what"].endswith("FedAvg")] == [
        "near, 90 %: FedAvg", "near, 50 %: FedAvg", "far, 25 %: FedAvg",
    ]  # fmt: skip
    assert all(row["published"] is None for row in numbers)  # of other data


def test_each_stands_for_all(written: Any) -> None:
    summary = summary_of(written(TABLE))
    assert len(summary["claims"][0]["cases"]) == 4
    assert summary["choices"][0]["effect"] == {
        "near, FedAvg": 2, "near, SCAFFOLD": 10, "near, FedAvg, half": 1, "near, SCAFFOLD, half": 5,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("bound", "most", "holding", "verdict"),
    [
        (4, "true", 3, REPRODUCED),
        (4, "false", 3, CONTRADICTED),
        (3, "true", 2, CONTRADICTED),
        (2, "true", 1, CONTRADICTED),
    ],
)
def test_a_claim_of_most_cases_needs_more_than_half(
    written: Any, bound: int, most: str, holding: int, verdict: str
) -> None:
    """To the first level it takes 3 models and more than 10, or 2 and 4."""
    text = TABLE.replace('models(0, data, method) >= 1"', f'models(0, data, method) <= {bound}"\nmost = {most}')
    (claim,) = summary_of(written(text))["claims"]
    assert sum(case["holds"] for case in claim["cases"]) == holding
    assert claim["verdict"] == verdict


def test_of_most_cases_those_that_are_not_known_count_too() -> None:
    assert _verdict([True], 3) == _verdict([False], 3) == _verdict([], 3) == NOT_TESTABLE
    assert _verdict([True, True], 3) == REPRODUCED
    assert _verdict([False, False], 3) == _verdict([False, True], 2) == CONTRADICTED
    assert _verdict([True], None) == REPRODUCED


def test_a_table_of_one_level_does_not_name_it(written: Any) -> None:
    text = TABLE.replace('{ "57" = [8, "more than 5"] }', "[8, 2]").replace(
        'why = "small"', 'why = "small"\nours = "models_to(0.99, \'test_accuracy\', data, method)"'
    )
    experiment = written(text.replace("[quick]", "[figure]\nlevels = { far = [1] }\n\n[quick]"))
    last = summary_of(experiment)["numbers"][-1]
    assert (last["what"], last["ours"]) == ("far: FedAvg", 5)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (('far = { "57"', 'fra = { "57"'), "published.rows.fra.57 = fra: is no data of this file"),
        (
            ("[2, 2]", "[2]"),
            r"published.rows.near.97.2 = .*: is not one value per method; give those of SCAFFOLD, FedAvg",
        ),
        (('"97.2"', '"high"'), r"published.rows.near.high = high: is no level in per cent"),
        (('source = "Table 1"\nwithin', "within"), r"published.source = None: is missing"),
        (("[published.rows]", "rows = [1]\n\n[quick.run]"), r"published.rows is a list, no object"),
        (("within = 2", "witin = 2"), r"published.witin = 2: is unknown; did you mean within\?"),
        (('data = "data"', 'data = "dat"'), r"claims\[0\].each.data = dat: is no list of labels"),
    ],
)
def test_tables_that_do_not_fit_are_refused(written: Any, change: tuple[str, str], message: str) -> None:
    text = TABLE.replace(*change)
    assert text != TABLE
    with pytest.raises(InvalidInput, match=message):
        written(text)


def test_levels_that_are_too_few_are_refused(written: Any) -> None:
    with pytest.raises(InvalidInput, match=r"figure.levels.near = .*: are not as many as the table's rows; give 2"):
        written(TABLE.replace("near = [0.9, 0.5]", "near = [0.9]"), quick=True)


def test_what_is_not_said_is_as_in_the_other_file(other: Any, written: Any) -> None:
    experiment, model = other(LIKE), written(TABLE)
    assert (experiment.id, experiment.title, experiment.seconds) == ("test.other", "of another kind", 2)
    assert (experiment.about, experiment.needs, experiment.methods) == (model.about, model.needs, model.methods)
    assert experiment.run == {**model.run, "participation": {"name": "Uniform", "K": 3}}
    assert list(experiment.data) == ["else"]  # as a whole
    assert [row["published"] for row in experiment.numbers] == [6, 7]
    assert experiment.numbers[0]["source"] == "Table 2"
    assert experiment.claims[0]["each"]["data"] == ["else"]


def test_a_file_may_be_like_one_that_is_like_another(other: Any) -> None:
    further = LIKE.replace('like = "test"', 'like = "middle"').replace("K = 3", "K = 2")
    assert other(further, middle=LIKE).run["participation"]["K"] == 2


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (('like = "test"', 'like = "tset"'), "like = tset: is no file of this folder"),
        (('like = "test"', 'like = "other"'), "like = other: leads back to this file"),
        (("\nseconds = 2\n", "\n"), "seconds = None: is missing: a file does not inherit it"),
    ],
)
def test_faults_of_such_files_are_refused(other: Any, change: tuple[str, str], message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        other(LIKE.replace(*change))
    with pytest.raises(InvalidInput, match=r"middle.toml: like = other: leads back"):
        other(LIKE.replace("test", "middle"), middle=LIKE.replace('like = "test"', 'like = "other"'))
