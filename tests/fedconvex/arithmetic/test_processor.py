"""The processor's name, with and without Linux's description of it."""

from pathlib import Path

import pytest

from fedconvex.arithmetic.processor import processor


def test_the_first_model_that_is_named(tmp_path: Path) -> None:
    cpuinfo = tmp_path / "cpuinfo"
    cpuinfo.write_text("processor\t: 0\nmodel name\t: A 1: fast\nprocessor\t: 1\nmodel name\t: B 2\n")
    assert processor(cpuinfo) == "A 1: fast"


@pytest.mark.beyond_core  # Python's `platform` asks the command uname
def test_elsewhere_it_is_called_something(tmp_path: Path) -> None:
    (tmp_path / "cpuinfo").write_text("Hardware\t: unheard of\n")  # some machines do not name their model
    assert processor(tmp_path / "cpuinfo")
    assert processor(tmp_path / "missing") == processor(tmp_path / "cpuinfo")
