"""A sweep that was killed, or of which some runs failed, continues from its finished runs."""

from pathlib import Path

import pytest
import sweep_makers as make

import fedconvex as fc
from fedconvex.sweeps import SweepFailed, grid, sweep
from fedconvex.sweeps.grid import make_grid

pytestmark = pytest.mark.beyond_core  # starts processes

KEPT = 4
SWEEPS = """
import sweep_makers as make
from fedconvex.sweeps import sweep
sweep(**make.grid(), out=sys.argv[2], jobs=int(sys.argv[3]))
"""


@pytest.mark.sample(1)
@pytest.mark.parametrize("jobs", [1, 2])
def test_after_kill_9_only_what_is_missing_is_run(tmp_path: Path, jobs: int) -> None:
    out = tmp_path / "sweep.parquet"
    make.killed_after(KEPT, SWEEPS, out, jobs)
    folder = tmp_path / "sweep.parquet.parts"
    before = {path.name: path.stat().st_mtime_ns for path in folder.iterdir()}
    assert len(before) == KEPT
    assert not out.exists()

    def kept() -> None:
        assert before.items() <= {path.name: path.stat().st_mtime_ns for path in folder.iterdir()}.items()

    with make.watched(at=12 - KEPT - 1, then=kept) as keys:
        table = sweep(**make.grid(), out=out, jobs=1)
    assert len(keys) == 12 - KEPT
    assert not {name[:32] for name in before} & {key[:32] for key in keys}
    make.assert_identical(table, make.expected())


def test_only_failed_runs_are_repeated(tmp_path: Path) -> None:
    obstacle = tmp_path / "obstacle"
    obstacle.touch()
    methods = {"fails": make.Fails(stepsize=0.05, file=str(obstacle)), "gd": fc.FedGD(stepsize=0.05)}
    arguments = make.grid(methods=methods, out=tmp_path / "sweep.parquet", jobs=1)
    with pytest.raises(SweepFailed, match="6 of 12 runs failed; the others are kept: the same call repeats only the"):
        sweep(**arguments)
    assert not (tmp_path / "sweep.parquet").exists()
    obstacle.unlink()
    with make.watched() as keys:
        assert len(sweep(**arguments)) == 12 * (make.ROUNDS + 1)
    assert len(keys) == 6


def test_runs_of_another_version_of_torch_are_run_again_where_torch_computes(monkeypatch: pytest.MonkeyPatch) -> None:
    def keys(arithmetic: str) -> set[str]:
        options = {"arithmetic": arithmetic}
        return {cell.key for cell in make_grid([fc.FedProx(mu=1)], {"some": make.logistic()}, [0], 2, options).cells}

    before = {arithmetic: keys(arithmetic) for arithmetic in ("float", "torch")}
    real = grid.version_of
    monkeypatch.setattr(grid, "version_of", lambda name: "0.0.1" if name == "torch" else real(name))
    assert keys("torch") != before["torch"]
    assert keys("float") == before["float"]
    monkeypatch.setattr(grid, "version_of", lambda name: "0.0.1" if name == "numpy" else real(name))
    assert keys("float") != before["float"]
