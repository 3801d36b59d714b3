"""The estimate of memory: what the system leaves, by every limit there is, and the error for what does not fit."""

import sys
from pathlib import Path

import flint
import numpy as np
import pytest

from fedconvex import arithmetic as arithmetics
from fedconvex import memory
from fedconvex.arithmetic.definiteness import null_space
from fedconvex.errors import InvalidInput, TooLarge


@pytest.fixture
def little(monkeypatch: pytest.MonkeyPatch) -> None:
    """100 MiB are left."""
    monkeypatch.setattr(memory, "available", lambda: 100 * 2**20)


class TestRequire:
    def test_names_argument_value_size_and_cure(self, little: None) -> None:
        with pytest.raises(TooLarge) as caught:
            memory.require(3 * 2**30, "A", "a matrix", "the exact Hessian", "use fewer features")
        assert str(caught.value) == (
            "A = a matrix: the exact Hessian takes 3.0 GiB, 100 MiB are left; use fewer features"
        )
        assert isinstance(caught.value, InvalidInput)

    def test_grants_what_fits_and_leaves_a_part(self, little: None) -> None:
        assert memory.fits(79 * 2**20)
        assert not memory.fits(90 * 2**20)

    def test_small_sizes_are_granted_without_a_look(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(memory, "available", lambda: pytest.fail("looked"))
        assert memory.fits(memory.FREE)

    def test_an_allocation_that_fails_all_the_same_is_refused(self) -> None:
        with (
            pytest.raises(TooLarge, match=r"data = 5: takes more memory than there is \(none\)"),
            memory.refusing("data", 5),
        ):
            raise MemoryError("none")


class TestAvailable:
    def test_the_least_of_all_limits(self, monkeypatch: pytest.MonkeyPatch) -> None:
        limits = {"_address_space": 300, "_control_groups": 200, "_physical": 400}
        for name, left in limits.items():
            monkeypatch.setattr(memory, name, lambda left=left: left)
        assert memory.available() == 200
        monkeypatch.setattr(memory, "_address_space", lambda: -5)
        assert memory.available() == 0

    @pytest.mark.skipif(sys.platform != "linux", reason="the addresses in use are read as Linux shows them")
    def test_addresses_in_use_are_no_longer_left(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("resource.getrlimit", lambda kind: (2**50, 2**50))
        assert 2**50 - 2**46 < memory._address_space() < 2**50 - 2**24

    @pytest.mark.parametrize(
        ("line", "root", "files"),
        [
            ("0::/box/inner", "", {"memory.max": "1000", "memory.current": "700", "memory.stat": "inactive_file 50"}),
            (
                "4:cpu,memory:/box/inner",
                "memory",
                {
                    "memory.limit_in_bytes": "1000",
                    "memory.usage_in_bytes": "700",
                    "memory.stat": "total_inactive_file 50",
                },
            ),
        ],
        ids=["version 2", "version 1"],
    )
    def test_control_groups(
        self, line: str, root: str, files: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        inner = tmp_path / root / "box" / "inner"
        inner.mkdir(parents=True)
        monkeypatch.setattr(memory, "CGROUPS", tmp_path)
        kept = memory._lines
        monkeypatch.setattr(memory, "_lines", lambda file: [line] if file == Path("/proc/self/cgroup") else kept(file))
        assert memory._control_groups() == memory.UNLIMITED
        for name, text in files.items():  # the limit of a group above holds, too
            (inner.parent / name).write_text(text)
        assert memory._control_groups() == 350
        (inner.parent / next(iter(files))).write_text("max")
        assert memory._control_groups() == memory.UNLIMITED


@pytest.mark.parametrize("name", ["exact", "ball", "float"])
def test_matrices_of_every_arithmetic_are_estimated(name: str, little: None) -> None:
    numbers = arithmetics.get(name)
    numbers.require_room(100, 100)
    with pytest.raises(TooLarge, match=r"\(20000, 20000\)"):
        numbers.require_room(20_000, 20_000)


@pytest.mark.beyond_core  # a long exact inverse runs in a process of its own
def test_flint_is_asked_only_for_what_fits(little: None) -> None:
    for numbers in (arithmetics.get("exact"), arithmetics.get("ball")):
        with pytest.raises(TooLarge):
            numbers.array(np.zeros(2_000_000))
        column = numbers.matrix(np.ones((2_000, 1)))
        with pytest.raises(TooLarge):
            numbers.product(column, numbers.transpose(column))
        with pytest.raises(TooLarge):
            numbers.identity(20_000)
    with pytest.raises(TooLarge, match="kernel"):
        null_space(flint.fmpq_mat(1, 20_000))


def test_the_digits_of_an_exact_inverse_are_estimated(monkeypatch: pytest.MonkeyPatch) -> None:
    exact = arithmetics.get("exact")
    short, long = (exact.matrix(np.eye(120, dtype=object) * 3**digits) for digits in (1, 2_000))
    monkeypatch.setattr(memory, "available", lambda: 100 * 2**20)
    assert exact.inverse(short)[0, 0] == flint.fmpq(1, 3)
    with pytest.raises(TooLarge, match="the inverse in rational numbers takes"):
        exact.inverse(long)
