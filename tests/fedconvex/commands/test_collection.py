"""The garbage collector in a process that is one command."""

import gc
from collections.abc import Iterator

import pytest
from program_runner import printed

from fedconvex.commands import main
from fedconvex.commands.main import COMMANDS

PROGRAM = """
import atexit, gc, sys, weakref
class Cycle:
    pass
cycle = Cycle()
cycle.itself = cycle
weakref.finalize(cycle, print, "finalised")
before = gc.get_threshold()
atexit.register(lambda: print(gc.get_freeze_count() > 10_000, gc.get_threshold() == before))  # after the command's own
if sys.argv.pop(1) == "command":
    from fedconvex.commands.main import main
    main()
"""


@pytest.fixture
def threshold() -> Iterator[tuple[int, int, int]]:
    """The interpreter's thresholds; other tests may have run a command in this process. Restored as they were."""
    before, usual = gc.get_threshold(), (700, 10, 10)
    gc.set_threshold(*usual)
    yield usual
    gc.set_threshold(*before)


@pytest.mark.beyond_core
def test_a_command_ends_without_a_look_at_all_objects_and_still_finalises() -> None:
    version, *last = printed(PROGRAM, "command", "--version").splitlines()
    assert version.startswith("fedconvex ")
    assert sorted(last) == ["True True", "finalised"]


@pytest.mark.beyond_core
def test_another_process_is_left_alone() -> None:
    assert sorted(printed(PROGRAM, "none").splitlines()) == ["False True", "finalised"]


def test_networks_are_collected_as_often_as_ever(
    threshold: tuple[int, int, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(main.atexit, "register", lambda function: None)
    for name in {*COMMANDS, None} - {*main.RARELY}:
        main.collect_little(name)
        assert gc.get_threshold() == threshold
    assert set(COMMANDS) >= {*main.RARELY}
    main.collect_little("audit")
    assert gc.get_threshold() > threshold
