"""Programs are killed at random moments, or work in one folder at a time: nothing is lost, half-written or left over.

`killed_programs.py` says what is attacked, and how. Longer: FEDCONVEX_KILLS=500 FEDCONVEX_CONTENTIONS=100 pytest -m
exhaustive tests/fuzzing/test_killed_programs.py; the numbers are of all programs together.
"""

import json
import os
import sys
from pathlib import Path
from typing import Any

import pytest
from processes import HELPERS, ONE_THREAD, python, require

pytestmark = pytest.mark.beyond_core  # starts processes

QUICK = ("simulate", "sweep", "cache", "deep", "report")
IN_ONE_PROCESS = (*QUICK, "reproduce", "audit")
WITH_WORKERS = ("sweep on cores", "sweep on a cluster")  # their processes take seconds to start
CONTESTED = ("simulate", "sweep", "deep", "reproduce", "audit")
KILLS = int(os.environ.get("FEDCONVEX_KILLS", "30"))
CONTENTIONS = int(os.environ.get("FEDCONVEX_CONTENTIONS", "15"))


def attacked(attack: str, names: tuple[str, ...], number: int, seed: int) -> list[dict[str, Any]]:
    """What `killed_programs.py` reports, in a process with one thread, which can fork."""
    program = Path(__file__).with_name("killed_programs.py")
    shown = require(python(program, attack, ",".join(names), number, seed, **ONE_THREAD, **HELPERS))
    found: list[dict[str, Any]] = json.loads(shown.splitlines()[-1])
    sys.stdout.writelines(f"{one}\n" for one in found)  # shown by pytest -rP
    return found


def test_kills_lose_nothing_and_leave_nothing() -> None:
    for found in attacked("kills", QUICK, 1, seed=0):
        assert found["kills"] >= 1


@pytest.mark.slow
def test_processes_in_one_folder_end_or_name_the_owner() -> None:
    for found in attacked("contention", ("sweep", "deep"), 1, seed=0):
        assert found["done"] >= 1


def test_a_program_that_replaces_its_file_piece_by_piece_is_found() -> None:
    with pytest.raises(AssertionError, match="JSONDecodeError"):
        attacked("kills", ("careless",), 20, seed=0)


@pytest.mark.exhaustive
def test_many_kills_lose_nothing_and_leave_nothing() -> None:
    """In one of ten, the program has worker processes or is the caller of a cluster."""
    found = attacked("kills", WITH_WORKERS, -(-KILLS // 20), seed=1)
    found += attacked("kills", IN_ONE_PROCESS, -(-9 * KILLS // 10 // len(IN_ONE_PROCESS)), seed=1)
    assert sum(one["kills"] for one in found) >= KILLS


@pytest.mark.exhaustive
def test_many_processes_in_one_folder_end_or_name_the_owner() -> None:
    found = attacked("contention", CONTESTED, -(-CONTENTIONS // len(CONTESTED)), seed=1)
    assert sum(one["rounds"] for one in found) >= CONTENTIONS
    assert sum(one["refused"] for one in found) > 0
