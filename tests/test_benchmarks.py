"""Benchmarks run also where their hardware is missing; planted faults are noticed by the layer that notices them."""

from pathlib import Path

import pytest
from documents import making
from processes import python, require

pytestmark = pytest.mark.beyond_core  # starts processes

BENCHMARKS = Path(__file__).resolve().parents[1] / "benchmarks"


@pytest.mark.slow
def test_the_gpu_benchmark_can_be_rehearsed() -> None:
    assert require(python("deep_gpu.py", "--rehearse", cwd=BENCHMARKS, seconds=300)).startswith("rehearsed:")


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
def test_a_fault_is_noticed_by_its_layer(tmp_path: Path) -> None:
    mutants = making("mutants", BENCHMARKS)
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
