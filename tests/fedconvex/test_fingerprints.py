"""Fingerprints are equal for equal content, in every process, and different for all else."""

import hashlib
import importlib
import importlib.util
import os
import sys
from dataclasses import dataclass
from enum import Enum
from fractions import Fraction
from itertools import combinations
from pathlib import Path
from typing import Any

import flint
import numpy as np
import pytest
import sweep_makers as make
import torch
from hypothesis import given
from hypothesis import strategies as st
from program_runner import printed

import fedconvex as fc
from fedconvex.errors import InvalidInput
from fedconvex.fingerprints import STORED_AS, fingerprint


class Colour(Enum):
    RED = 1
    BLUE = 2


@dataclass(frozen=True)
class Pair:
    first: Any
    second: Any = 0


@dataclass(frozen=True)
class OtherPair:
    first: Any
    second: Any = 0


HALVES = [Fraction(1, 2), Fraction(3, 2)]
FLOATS = np.array([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])

ALL_DIFFERENT = [
    None, True, False, 0, 1, -1, 2**70, 0.0, -0.0, 1.0, float("nan"), float("inf"), -float("inf"), 5e-324,
    Fraction(1), Fraction(1, 3), Fraction(-1, 3), flint.fmpz(1), flint.fmpq(1), flint.fmpq(1, 3), flint.arb(1),
    flint.arb(1, 0.5), flint.arb(2), flint.arb("inf"), flint.arb("nan"), np.int64(1), np.int32(1), np.float64(1),
    np.float32(1), np.bool_(True), "", "1", "None", "True", "ü", "\ud800", b"", b"1", [], (), {}, [1], (1,), [1, 2],
    [[1, 2]], [[1], 2], [1, [2]], ["a", "bc"], ["ab", "c"], ["abc"], {1: 2}, {2: 1}, {"1": 2}, {1: 2, 2: 1}, {1: [2]},
    Colour.RED, Colour.BLUE, Pair(1), Pair(1.0), Pair(0, 1), OtherPair(1), Pair(Pair(1)), Pair(Pair(1, 0), 1),
    np.array(1), np.array(1.0), np.array([1]), np.array([1.0]), np.array([1], np.int32), np.array([True]), np.array([]),
    np.array([], np.int64), np.zeros((0, 2)), np.zeros((2, 0)), FLOATS, FLOATS.T, FLOATS.reshape(3, 2), FLOATS.ravel(),
    FLOATS.astype(np.float32), np.array(["a", "b"]), np.array(["ab"]), np.array([b"a", b"b"]), np.array([1 + 0j]),
    np.array([0.0]), np.array([-0.0]), np.array(HALVES, dtype=object), np.array([HALVES], dtype=object), HALVES,
    np.array([1, 2.0], dtype=object), torch.ones(1), torch.ones(1, dtype=torch.float64), torch.zeros(1),
    fc.FedProx(mu=1), fc.FedProx(mu=1.0), fc.FedProx(mu=Fraction(1)), fc.FedSplit(stepsize=1), fc.participation.Full(),
    fc.participation.Uniform(1), fc.participation.Weighted(1), fc.participation.Schedule([[0], [1]]),
    fc.participation.Schedule([[0, 1]]), fc.Exact(), make.least_squares(), make.least_squares(seed=1), make.logistic(),
    fc.LeastSquares(A=[[[1]], [[1]]], b=[[1], [1]]), fc.LeastSquares(A=[[[1]], [[1]]], b=[[1], [1]], weights=[1, 2]),
    fc.LeastSquares(A=[[[1.0]], [[1.0]]], b=[[1], [1]]), fc.LeastSquares(A=[[[1], [1]]], b=[[1, 1]]),
    fc.Quadratic(H=[[[1]], [[1]]], c=[[1], [1]]),
]  # fmt: skip


def test_what_differs_has_different_fingerprints() -> None:
    marks = [fingerprint(value) for value in ALL_DIFFERENT]
    for i, j in combinations(range(len(marks)), 2):
        assert marks[i] != marks[j], (ALL_DIFFERENT[i], ALL_DIFFERENT[j])


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (FLOATS, np.asfortranarray(FLOATS)),
        (FLOATS, FLOATS.astype(">f8")),
        (FLOATS, np.repeat(FLOATS, 2, axis=1)[:, ::2]),
        (np.array([1, 2]), np.array([1, 2], dtype=">i8")),
        ({"a": 1, "b": [2]}, {"b": [2], "a": 1}),
        (float("nan"), -float("nan")),
        (make.least_squares(), make.least_squares()),
        (fc.FedProx(mu=1), fc.FedProx(mu=1)),
        (flint.fmpq(2, 6), flint.fmpq(1, 3)),
    ],
)
def test_what_is_equal_has_equal_fingerprints(one: Any, other: Any) -> None:
    assert fingerprint(one) == fingerprint(other)


def test_a_file_mapped_into_memory_is_an_array(tmp_path: Path) -> None:
    np.save(tmp_path / "array.npy", FLOATS)
    assert fingerprint(np.load(tmp_path / "array.npy", mmap_mode="r")) == fingerprint(FLOATS)


def test_what_a_problem_keeps_does_not_count() -> None:
    problem = make.least_squares()
    before = fingerprint(problem)
    fc.simulate(fc.FedProx(mu=1), problem, rounds=2).to_frame()
    assert fingerprint(problem) == before


def test_the_working_precision_does_not_count() -> None:
    with flint.ctx.workprec(200):
        third = flint.arb(1) / 3
        fine = fingerprint(third)
    assert fingerprint(third) == fine
    assert fingerprint(flint.arb(1) / 3) != fine  # the control: a coarser ball


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.fractions() | st.binary(),
    lambda inner: st.lists(inner, max_size=3) | st.lists(inner, max_size=3).map(tuple),
    max_leaves=6,
)


@given(VALUES, VALUES)
def test_fingerprints_agree_exactly_where_python_writes_the_same(one: Any, other: Any) -> None:
    assert (fingerprint(one) == fingerprint(other)) == (repr(one) == repr(other))


@pytest.mark.beyond_core  # starts a process
def test_every_process_finds_the_same() -> None:
    program = (
        "import fedconvex as fc, sweep_makers as make; from fedconvex.fingerprints import STORED_AS, fingerprint;"
        "print(fingerprint([make.logistic(), fc.FedProx(mu=1), {'b': 1, 'a': {2, }.pop()}]))"
    )
    # Hashes of texts differ from those of this process, whose seed is no other's, if it has one.
    seed = "1" if os.environ.get("PYTHONHASHSEED") != "1" else "0"
    found = printed(program, PYTHONHASHSEED=seed, PYTHONPATH=os.pathsep.join(filter(None, sys.path)))
    assert found.strip() == fingerprint([make.logistic(), fc.FedProx(mu=1), {"a": 2, "b": 1}])


def test_the_form_is_fixed() -> None:
    """If this changes, no sweep and no checkpoint that an older version began can be resumed."""
    value = [None, True, -31, 0.5, "ü", b"\x01", Fraction(1, 17), (), {"a": np.array([[1, 2]], dtype="<i2")}, Pair(1)]
    written = (
        b"builtins.list 2 10builtins.NoneType 4 Nonebuiltins.bool 4 Truebuiltins.int 3 -1f"
        b"builtins.float 20 0x1.0000000000000p-1builtins.str 2 \xc3\xbcbuiltins.bytes 2 01fractions.Fraction 4 1/11"
        b"builtins.tuple 1 0builtins.dict 1 1" + hashlib.sha256(b"builtins.str 1 a").hexdigest().encode()
    )
    written += b"array 10 <i2 (1, 2)\x01\x00\x02\x00" + f"{__name__}.Pair 1 2".encode()
    written += b"field 5 firstbuiltins.int 1 1field 6 secondbuiltins.int 1 0"
    assert fingerprint(value) == hashlib.sha256(written).hexdigest()


@pytest.mark.parametrize(
    ("value", "place"),
    [
        (object(), "value"),
        ({1, 2}, "value"),
        (float, "value"),
        (lambda: 1, "value"),
        (1j, "value"),
        ([1, {"a": [0, object()]}], "value[1]['a'][1]"),
        (Pair(1, second=[print]), "value.second[0]"),
        (np.array([1, object()], dtype=object), "value[1]"),
        (np.array(["2020-01-01"], dtype="datetime64[D]"), "value"),
        (np.longdouble(1), "value"),
        (np.ma.masked_array([1.0, 2.0], mask=[0, 1]), "value"),
        (flint.fmpz_poly([1]), "value"),
        ({(1, object()): 2}, "a key of value[1]"),
        (Colour, "value"),
        (Pair, "value"),
    ],
)
def test_what_has_no_known_content_is_refused(value: Any, place: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        fingerprint(value)
    assert refused.value.argument == place


def test_errors_use_the_given_name() -> None:
    with pytest.raises(InvalidInput, match=r"^methods\['a'\]\[0\] = .* is of type .*; give numbers"):
        fingerprint([print], "methods['a']")


@pytest.mark.parametrize(
    ("value", "before"),
    [(fc.FedGD(stepsize=1), "methods.fedgd"), (fc.FedLin(stepsize=1, local_steps=1), "methods.fedlin"),
     (fc.FedAvgM(stepsize=1, momentum=0), "methods.fedavgm"),
     (fc.AcceleratedGradient(tolerance=1e-3), "local_solvers.accelerated")],
)  # fmt: skip
def test_classes_that_moved_keep_their_names_in_stored_runs(
    value: Any, before: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = fingerprint(value)
    monkeypatch.setattr(type(value), "__module__", f"fedconvex.{before}")
    assert fingerprint(value) == now
    monkeypatch.setattr(type(value), "__module__", "fedconvex.elsewhere")
    assert fingerprint(value) != now


def test_every_old_name_is_of_a_class_that_is_elsewhere_now() -> None:
    for now, before in STORED_AS.items():
        module, _, name = now.rpartition(".")
        assert getattr(importlib.import_module(module), name).__module__ == module
        assert importlib.util.find_spec(before.rpartition(".")[0]) is None
