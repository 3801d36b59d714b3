"""A test is skipped only for what a machine lacks, and the reason says what was not tried."""

import re
from pathlib import Path

TESTS = Path(__file__).resolve().parents[1]
EXAMPLES = TESTS.parent / "examples"
SKIPS = re.compile(r"pytest\.(?:skip|importorskip|xfail)\(|mark\.(?:skip|skipif|xfail)\b")
# What each lacks; whatever the package or its tests install is no reason.
LACKING = {
    "deep/datasets/dataset_makers.py": "real data sets beside the checkout",
    "deep/test_disk.py": "Linux's limits of memory",
    "deep/gpu_runs.py": "a GPU",
    "deep/test_gpu_resuming.py": "a GPU",
    "deep/test_gpu_steps.py": "a GPU",
    "deep/test_loggers.py": "MLflow and Weights & Biases, which no part of the package needs",
    "deep/test_processes.py": "a list of a process's threads, as Linux has",
    "deep/test_runner.py": "a machine without a GPU",
    "fedconvex/commands/test_audit.py": "real data sets beside the checkout",
    "frameworks/tests/test_frameworks.py": "other frameworks, in the version that findings are about",
    "fedconvex/data/test_fedprox_synthetic.py": "the authors' data beside the checkout",
    "fedconvex/data/test_load.py": "real data sets beside the checkout",
    "fedconvex/data/test_polars.py": "polars, which no part of the package needs",
    "fedconvex/problems/test_problems.py": "long doubles that are longer than doubles",
    "fedconvex/report/test_browser.py": "a browser",
    "fedconvex/test_memory_estimate.py": "a list of addresses in use, as Linux has",
    "fuzzing/test_memory.py": "Linux's limits of memory",
    "proofs_checks/reporting/test_line_breaks.py": "pdflatex",
    "proofs_checks/rocq/theorem_folders.py": "Rocq",
    "test_adding.py": "a git checkout",
    "test_guide.py": "a browser",
    "test_packaging.py": "symlinks",
    "theory/test_unusual_numbers.py": "long doubles that are longer than doubles",
}


def skipping(folder: Path) -> set[str]:
    """The files that skip tests, or expect them to fail."""
    return {str(f.relative_to(folder)) for f in folder.rglob("*.py") if SKIPS.search(f.read_text("utf-8"))}


def test_tests_are_skipped_for_what_a_machine_lacks() -> None:
    assert skipping(EXAMPLES) | skipping(TESTS) - {"layers/test_skips.py"} == set(LACKING)


def test_nothing_is_expected_to_fail_or_skipped_for_what_the_tests_install() -> None:
    forbidden = re.compile(r"importorskip|pytest\.xfail|mark\.xfail")
    files = [f for folder in (TESTS, EXAMPLES) for f in folder.rglob("*.py") if f.name != "test_skips.py"]
    assert [f.name for f in files if forbidden.search(f.read_text("utf-8"))] == []


def test_a_new_skip_is_noticed(tmp_path: Path) -> None:
    (tmp_path / "test_a.py").write_text("@pytest.mark.skip\ndef test(): pass\n")
    (tmp_path / "test_b.py").write_text('torch = pytest.importorskip("torch")\n')
    (tmp_path / "test_c.py").write_text("METHOD = fc.FedPD(eta=1, skip=0.5)\n")
    assert skipping(tmp_path) == {"test_a.py", "test_b.py"}
