"""A sweep runs every setting of its grid once, on any number of cores."""

from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import flint
import numpy as np
import pandas
import pyarrow.parquet
import pytest
import sweep_makers as make

import fedconvex as fc
from fedconvex.errors import InvalidInput
from fedconvex.problems.base import Problem
from fedconvex.sweeps import Setting, SweepFailed, run, sweep
from fedconvex.sweeps.grid import make_grid
from fedconvex.sweeps.local_processes import unpacked_once
from fedconvex.sweeps.packed_problems import pack

pytestmark = pytest.mark.beyond_core  # starts processes

SQUARES, LOGISTIC = make.least_squares(), make.logistic()
PROX, GD = fc.FedProx(mu=1), fc.FedGD(stepsize=0.05, local_steps=2)


def test_every_run_is_there_once_in_the_order_of_the_grid() -> None:
    expected = [(m, p, s) for m in ("prox", "gd") for p in ("squares", "logistic") for s in (3, 0, 1)]
    assert make.labels(make.expected()) == expected
    assert list(make.expected()["round"]) == list(range(make.ROUNDS + 1)) * len(expected)
    assert list(make.expected().columns[:4]) == ["method", "problem", "seed", "round"]
    assert make.expected().seed.dtype == np.int64


def test_every_run_is_what_simulate_gives() -> None:
    for (method, problem, seed), rows in make.expected().groupby(["method", "problem", "seed"]):
        what, where = make.grid()["methods"][method], make.grid()["problems"][problem]
        alone = fc.simulate(what, where, make.ROUNDS, fc.participation.Uniform(1), seed=seed).to_frame()
        make.assert_identical(rows.drop(columns=["method", "problem", "seed"]).reset_index(drop=True), alone)


def test_the_seed_matters() -> None:
    """So that an exchange of two runs would be noticed."""
    last = make.expected()[make.expected()["round"] == make.ROUNDS]
    assert last["value"].nunique() == len(last)


@pytest.mark.slow
def test_processes_give_the_same_to_the_last_bit() -> None:
    make.assert_identical(sweep(**make.grid(), jobs=2), make.expected())
    make.assert_identical(sweep(**make.grid()), make.expected())


@pytest.mark.slow
def test_exact_data_and_large_data_survive_the_way() -> None:
    """Fractions, flint numbers, problems that have been used, and arrays large enough to be mapped into memory."""
    thirds = fc.LeastSquares(A=[[[Fraction(1, 3), 2]], [[1, Fraction(2, 7)]]], b=[[1], [Fraction(1, 9)]])
    fc.fixed_point(PROX, thirds, arithmetic="exact")
    large = make.least_squares(m=2, n=20_000, d=5)
    methods = [fc.FedProx(mu=flint.fmpq(2, 3)), fc.FedGD(stepsize=Fraction(1, 100_000))]
    exact = {"problems": thirds, "rounds": 3, "arithmetic": "exact"}
    for arguments in (exact, {"problems": [large], "rounds": 3, "measure": "all"}):
        make.assert_identical(sweep(methods, **arguments, jobs=2), sweep(methods, **arguments, jobs=1))


def test_a_problem_is_unpacked_once_for_runs_that_follow_one_another() -> None:
    arguments = make.grid()
    grid = make_grid(arguments["methods"], arguments["problems"], (0, 1), 1, {})
    first, again, other = pack(grid.cells, grid)["squares"], *pack(grid.cells, grid).values()
    assert unpacked_once(first).problem is unpacked_once(again).problem
    assert unpacked_once(other).problem is not first.problem
    assert [cell.problem for cell in grid.by_problem(done=[])] == ["squares"] * 4 + ["logistic"] * 4
    fc.ground_truth(first.problem)
    rebuild, parts = first.__reduce__()
    assert rebuild(*parts).problem.known_ground_truths == {}
    unpacked_once.cache_clear()


def test_lists_are_named_by_what_python_shows() -> None:
    table = sweep([PROX, GD], SQUARES, rounds=0, jobs=1)
    assert make.labels(table) == [(repr(PROX), repr(SQUARES), 0), (repr(GD), repr(SQUARES), 0)]
    assert make.labels(sweep(PROX, [SQUARES], rounds=0, jobs=1)) == [(repr(PROX), repr(SQUARES), 0)]
    assert make.labels(sweep([Setting(PROX)], [SQUARES], rounds=0, jobs=1)) == [(repr(PROX), repr(SQUARES), 0)]


def test_settings_override_what_the_sweep_is_given() -> None:
    late = fc.participation.Stragglers(Fraction(1, 2), policy="drop")
    methods = {
        "all": Setting(GD, participation=fc.participation.Full()),
        "one": GD,
        "late": Setting(GD, participation=fc.participation.Full(), stragglers=late),
        "steps": Setting(GD, local_solver=fc.GradientDescent(steps=5, stepsize=0.05)),
    }
    scheme = fc.participation.Uniform(1)
    table = sweep(methods, {"squares": SQUARES}, rounds=3, participation=scheme, jobs=1).set_index("method")

    def alone(**options: Any) -> np.ndarray:
        return fc.simulate(GD, SQUARES, 3, **options).to_frame()["value"].to_numpy()

    everyone = fc.participation.Full()
    assert np.array_equal(table.loc["all", "value"], alone())
    assert np.array_equal(table.loc["one", "value"], alone(participation=scheme))
    assert np.array_equal(table.loc["late", "value"], alone(participation=everyone, stragglers=late))
    steps = fc.GradientDescent(steps=5, stepsize=0.05)
    assert np.array_equal(table.loc["steps", "value"], alone(participation=scheme, local_solver=steps))


def test_runs_with_other_columns_fit_in_one_table() -> None:
    """`measure` is the whole sweep's; a method without control variates has no control_error."""
    methods = {"prox": PROX, "scaffold": fc.Scaffold(stepsize=0.05)}
    table = sweep(methods, {"squares": SQUARES}, rounds=2, measure="all", jobs=1)
    assert len(table) == 6
    assert table["round"].dtype == np.int64


def test_the_file_holds_the_table_and_is_read_where_it_is_there(tmp_path: Path) -> None:
    out = tmp_path / "sweep.parquet"
    make.assert_identical(sweep(**make.grid(), out=out, jobs=1), make.expected())
    make.assert_identical(pandas.read_parquet(out), make.expected())
    assert [path.name for path in tmp_path.iterdir()] == ["sweep.parquet"]
    content = out.read_bytes()
    with make.watched() as keys:
        make.assert_identical(sweep(**make.grid(), out=str(out)), make.expected())
    assert keys == []
    assert out.read_bytes() == content


@pytest.mark.sample(3)
@pytest.mark.parametrize(
    "changes",
    [
        {"rounds": make.ROUNDS + 1},
        {"seeds": (0, 1)},
        {"seeds": (0, 1, 3)},
        {"participation": fc.participation.Uniform(2)},
        {"participation": None},
        {"problems": {"squares": make.least_squares(seed=1), "logistic": LOGISTIC}},
        {"problems": {"renamed": SQUARES, "logistic": LOGISTIC}},
        {"methods": {"prox": fc.FedProx(mu=1.5), "gd": GD}},
        {"methods": {"prox": Setting(PROX, participation=fc.participation.Full()), "gd": GD}},
        {"x0": [1, 1]},
        {"arithmetic": "ball"},
    ],
)
def test_another_sweep_is_not_taken_for_this_one(tmp_path: Path, changes: dict[str, Any]) -> None:
    out = tmp_path / "sweep.parquet"
    sweep(**make.grid(), out=out, jobs=1)
    with pytest.raises(
        InvalidInput, match=r"out = .*: the file is there and holds something else than this sweep; give another"
    ):
        sweep(**make.grid(**changes), out=out)


def test_options_given_as_their_defaults_make_the_same_sweep(tmp_path: Path) -> None:
    out = tmp_path / "sweep.parquet"
    sweep(PROX, SQUARES, rounds=1, out=out, jobs=1)
    sweep([PROX], [SQUARES], [0], rounds=1, out=out, arithmetic="float", precision=128, x0=None)


@pytest.mark.parametrize("content", [b"", b"text", b"PAR1" + bytes(40) + b"PAR1"])
def test_a_file_that_is_no_table_is_refused(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "sweep.parquet").write_bytes(content)
    with pytest.raises(
        InvalidInput, match=r"out = .*: the file is there and cannot be read .*; give another name, or move"
    ):
        sweep(PROX, SQUARES, rounds=1, out=tmp_path / "sweep.parquet")


def test_somebody_elses_table_is_refused(tmp_path: Path) -> None:
    pandas.DataFrame({"a": [1]}).to_parquet(tmp_path / "sweep.parquet")
    with pytest.raises(InvalidInput, match="is there and holds something else"):
        sweep(PROX, SQUARES, rounds=1, out=tmp_path / "sweep.parquet")


SADDLE = fc.Quadratic(H=[[[-2]], [[1]]], c=[[0], [0]])


@pytest.mark.sample(1)
@pytest.mark.parametrize("jobs", [1, 2])
def test_a_failing_run_stops_no_other_and_is_named(jobs: int) -> None:
    problems = {"saddle": SADDLE, "squares": make.least_squares(d=1)}
    with pytest.raises(SweepFailed) as stopped:
        sweep({"prox": PROX, "gd": GD}, problems, (0, 1), rounds=2, jobs=jobs)
    assert [(f.method, f.problem, f.seed) for f in stopped.value.failures] == [("prox", "saddle", s) for s in (0, 1)]
    lines = str(stopped.value).splitlines()
    assert lines[0] == "2 of 8 runs failed; the error's `finished` has the others; with out=… they would be kept"
    assert lines[1].startswith("  prox on saddle, seed 0: InvalidInput: weight of the proximal term = 1")
    assert "in simulate" in stopped.value.__notes__[0]
    finished = stopped.value.finished
    make.assert_identical(
        finished[finished.problem == "squares"].reset_index(drop=True),
        sweep({"prox": PROX, "gd": GD}, {"squares": problems["squares"]}, (0, 1), rounds=2, jobs=1),
    )
    assert set(make.labels(finished)) == {(m, p, s) for m in ("prox", "gd") for p in problems for s in (0, 1)} - {
        ("prox", "saddle", 0),
        ("prox", "saddle", 1),
    }


def test_all_runs_may_fail_and_messages_stay_short() -> None:
    with pytest.raises(SweepFailed) as stopped:
        sweep(PROX, {"saddle": SADDLE}, range(30), rounds=1, jobs=1)
    assert len(stopped.value.failures) == 30
    assert len(stopped.value.finished) == 0
    assert str(stopped.value).endswith("  … and 20 more, see the error's `failures`")


@pytest.mark.slow
def test_a_killed_process_is_named_and_the_next_sweep_goes_on(tmp_path: Path) -> None:
    methods = {"killer": make.KillsItsProcess(stepsize=1), **make.grid()["methods"]}
    with pytest.raises(SweepFailed, match="a worker process was killed before this run was finished") as stopped:
        sweep(**make.grid(methods=methods, out=tmp_path / "sweep.parquet"), jobs=2)
    assert {f.method for f in stopped.value.failures} >= {"killer"}
    make.assert_identical(sweep(**make.grid(), out=tmp_path / "sweep.parquet", jobs=2), make.expected())


def test_a_lost_run_and_a_run_that_comes_twice_are_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    run_all: Callable[..., Any] = run._run
    monkeypatch.setattr(run, "_run", lambda *given: (one for one in list(run_all(*given))[1:]))
    with pytest.raises(fc.FedconvexError, match="prox on squares, seed 3 is there 0 times instead of once"):
        sweep(**make.grid(), jobs=1)
    monkeypatch.setattr(run, "_run", lambda *given: (one for one in list(run_all(*given)) for _ in range(2)))
    with pytest.raises(fc.FedconvexError, match="prox on squares, seed 3 is there 2 times instead of once"):
        sweep(**make.grid(), jobs=1)


def test_the_table_is_plain_parquet(tmp_path: Path) -> None:
    sweep(PROX, {"squares": SQUARES}, rounds=1, out=tmp_path / "sweep.parquet", jobs=1)
    schema = pyarrow.parquet.read_schema(tmp_path / "sweep.parquet")
    assert {str(schema.field(name).type) for name in ("seed", "round", "value")} == {"int64", "double"}


@pytest.mark.parametrize(
    ("changes", "argument", "problem"),
    [
        ({"methods": {}}, "methods", "is empty"),
        ({"methods": []}, "methods", "is empty"),
        ({"methods": "prox"}, "methods", "is no collection"),
        ({"methods": [PROX, PROX]}, "methods", "is there 2 times; give a mapping methods"),
        ({"methods": {1: PROX}}, "a name in methods", "is not text"),
        ({"methods": {"a": "prox"}}, "methods['a']", "is not a method"),
        ({"methods": {"a": SQUARES}}, "methods['a']", "is not a method"),
        ({"problems": {"a": PROX}}, "problems['a']", "is not a problem"),
        ({"problems": [SQUARES, make.least_squares(seed=1)]}, "problems", "is there 2 times"),
        ({"problems": None}, "problems", "is no collection"),
        ({"seeds": []}, "seeds", "is empty"),
        ({"seeds": 3}, "seeds", "is no collection; give for example range(5)"),
        ({"seeds": [0, 1, 0]}, "seeds", "is there 2 times"),
        ({"seeds": [0, -1]}, "seeds[1]", "must be an integer >= 0"),
        ({"seeds": [0.5]}, "seeds[0]", "must be an integer >= 0"),
        ({"seeds": [2**63]}, "seeds[0]", "is too large for a table"),
        ({"rounds": -1}, "rounds", "must be an integer >= 0"),
        ({"jobs": 0}, "jobs", "must be an integer >= 1"),
        ({"jobs": -1}, "jobs", "must be an integer >= 1"),
        ({"out": "table.csv"}, "out", "does not end in .parquet"),
        ({"out": "no/such/folder/table.parquet"}, "out", "lies in a folder that does not exist"),
        ({"out": 3}, "out", "is no path"),
        ({"arithmetic": "rational"}, "arithmetic", "is unknown"),
        ({"checkpoint": "file"}, "checkpoint", "belongs to a single run; give out"),
        ({"stepsize": 1}, "stepsize", "is no option of a sweep's runs; choose from participation, local_solver"),
        ({"x0": {1, 2}}, "x0", "whose content is not known"),
        ({"client": 3}, "client", "is neither a client nor an address"),
        ({"client": "tcp://127.0.0.1:1", "jobs": 2}, "jobs", "has no meaning with a client"),
    ],
)
def test_bad_input_is_refused_before_any_work(
    changes: dict[str, Any], argument: str, problem: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("fedconvex.sweeps.local_processes.run_cell", None)
    with pytest.raises(InvalidInput) as refused:
        sweep(**make.grid(**changes))
    assert refused.value.argument == argument
    assert problem in str(refused.value)


def test_what_cannot_be_sent_is_refused_where_it_must_be_sent() -> None:
    start = [flint.arb(1), flint.arb(0)]
    arguments = make.grid(rounds=1, x0=start, arithmetic="ball")
    with pytest.raises(InvalidInput, match=r"methods\['prox'\] with its options = .*: cannot be sent .*or jobs=1"):
        sweep(**arguments, jobs=2)
    assert len(sweep(**arguments, jobs=1)) == 24


@pytest.mark.slow
def test_an_error_of_the_disk_ends_the_sweep_and_keeps_what_is_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full() -> None:
        raise OSError("disk full")

    with make.watched(at=4, then=full), pytest.raises(OSError, match="disk full"):
        sweep(**make.grid(), out=tmp_path / "sweep.parquet", jobs=2)
    with make.watched() as keys:
        make.assert_identical(sweep(**make.grid(), out=tmp_path / "sweep.parquet", jobs=2), make.expected())
    assert len(keys) == 12 - 4


def test_a_setting_of_no_method_is_refused() -> None:
    with pytest.raises(InvalidInput, match="method = prox: is not a method"):
        Setting("prox")  # type: ignore[arg-type]


def test_a_problem_that_is_no_dataclass_is_refused() -> None:
    class Own(Problem):
        pass

    Own.__abstractmethods__ = frozenset()
    with pytest.raises(InvalidInput, match="problems of your own are frozen dataclasses"):
        sweep(PROX, {"own": Own()}, rounds=1)
