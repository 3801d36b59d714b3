"""Benchmarks run also where their hardware is missing; planted faults are noticed by the layer that notices them."""

import importlib.util
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

pytestmark = pytest.mark.beyond_core  # starts processes

BENCHMARKS = Path(__file__).resolve().parents[1] / "benchmarks"


@pytest.mark.slow
def test_the_gpu_benchmark_can_be_rehearsed() -> None:
    done = subprocess.run(
        [sys.executable, "deep_gpu.py", "--rehearse"], cwd=BENCHMARKS, capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("rehearsed:")


@pytest.fixture
def mutants(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    spec = importlib.util.spec_from_file_location("mutants", BENCHMARKS / "mutants.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, "mutants", module)
    spec.loader.exec_module(module)
    return module


MODULE = '''
def rho(mu, L):
    """The 2 in here is no code."""
    if mu <= 0:
        raise ValueError(f"mu = {mu + 1}: must be positive")
    return -L / mu
'''
TESTS = """
import importlib.util, pathlib, pytest
spec = importlib.util.spec_from_file_location("decay", pathlib.Path(__file__).parents[2] / "theory/decay.py")
decay = importlib.util.module_from_spec(spec)
spec.loader.exec_module(decay)
def test_default(): assert decay.rho(1, 4) < 0
@pytest.mark.slow
def test_slow(): assert decay.rho(2, 4) == -2
"""


@pytest.mark.slow
def test_a_fault_is_noticed_by_its_layer(mutants: ModuleType, tmp_path: Path) -> None:
    for name, text in (("theory/decay.py", MODULE), ("tests/theory/test_decay.py", TESTS)):
        (tmp_path / name).parent.mkdir(parents=True)
        (tmp_path / name).write_text(text)
    found = {f"{f.before} -> {f.after}": f for f in mutants.faults(tmp_path / "theory/decay.py", tmp_path)}
    assert set(found) == {
        "mu <= 0 -> (mu < 0)", "0 -> (1)", "-L / mu -> (-L * mu)", "-L / mu -> (mu / -L)", "-L -> (L)"
    }  # fmt: skip
    layers = {"-L -> (L)": "default", "-L / mu -> (-L * mu)": "slow", "mu <= 0 -> (mu < 0)": "none"}
    assert {change: mutants.noticed(found[change], tmp_path).noticed_by for change in layers} == layers
    assert (tmp_path / "theory/decay.py").read_text() == MODULE
