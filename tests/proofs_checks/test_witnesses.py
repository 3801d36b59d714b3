"""Witnesses: short exact programs that only compute, and that do contradict the statement."""

import subprocess
import sys
from fractions import Fraction

import pytest
from instance_search import search

from fedconvex.errors import InvalidInput
from fedconvex.proofs_checks import catalogue
from fedconvex.proofs_checks.remarks import remarks_of
from fedconvex.proofs_checks.tightness import Tightness
from fedconvex.proofs_checks.verification import load
from fedconvex.proofs_checks.witnesses import LINES, Witness, replay
from fedconvex.verdicts import Verdict

IMPORT = "from fractions import Fraction\n"


HOLDS = {"<=": int.__le__, "<": int.__lt__, "=": int.__eq__, ">=": int.__ge__, ">": int.__gt__}


@pytest.mark.parametrize("left", [1, 2, 3])
@pytest.mark.parametrize("relation", HOLDS)
def test_refuted_exactly_where_the_relation_fails(left, relation) -> None:
    found = replay(Witness("", IMPORT + f"left, right = Fraction({left}), 2", relation))
    assert found.verdict is (Verdict.UNKNOWN if HOLDS[relation](left, 2) else Verdict.REFUTED)
    assert (found.left, found.right) == (left, 2)


@pytest.mark.parametrize("program", [
    "",
    "left = 2",
    "left, right = 2.0, 1",
    "left, right = True, False",
    "left, right = 'b', 'a'",
    "left, right = 1 / 2, 0",
    "left, right = 2, 1 +",
    "left, right = 1 / 0, 1",
    IMPORT + "left, right = Fraction(0.5), 0",
    IMPORT + "left, right = Fraction(1 / 3), 0",
    IMPORT + "left, right = Fraction(Fraction(2) ** Fraction(1, 2)), 1",
    "import math\nleft, right = math.floor(2), 1",
    "import fractions\nleft, right = 2, 1",
    "from fractions import Decimal\nleft, right = 2, 1",
    "from os import getcwd\nleft, right = 2, 1",
    "left, right = len(open('/etc/passwd').read()), 0",
    "left, right = eval('2'), 1",
    "exec('left, right = 2, 1')",
    "left, right = __import__('math').floor(2), 1",
    "left, right = len(().__class__.__base__.__subclasses__()), 0",
    "print(1)\nleft, right = 2, 1",
    "left, right = 2, 1\n" + "x = 1\n" * LINES,
    "left, right = 2, " + "+".join("0" for _ in range(100)),
])  # fmt: skip
def test_no_such_program(program) -> None:
    assert replay(Witness("", program)).verdict is Verdict.UNKNOWN


def test_an_unknown_relation() -> None:
    assert replay(Witness("", "left, right = 2, 1", "!=")).verdict is Verdict.UNKNOWN


for of in catalogue():
    load(of.paper.name)
SAID = {of.identifier: remarks_of(of) for of in catalogue()}
REFUTATIONS = {name: said.refutation for name, said in SAID.items() if said.refutation is not None}
OTHER_READINGS = {
    name: said.reading.witness for name, said in SAID.items() if said.reading is not None and said.reading.witness
}


def test_there_are_witnesses() -> None:
    assert len(REFUTATIONS) >= 4
    assert len(OTHER_READINGS) >= 6


@pytest.mark.beyond_core  # starts a process
@pytest.mark.parametrize("witness", [*REFUTATIONS.values(), *OTHER_READINGS.values()],
                         ids=[*REFUTATIONS, *(f"{name}, another reading" for name in OTHER_READINGS)])  # fmt: skip
def test_every_witness_also_refutes_without_this_package(witness: Witness) -> None:
    found = replay(witness)
    assert found.verdict is Verdict.REFUTED
    assert len([line for line in witness.program.splitlines() if line.strip()]) <= LINES
    program = witness.program + "\nprint(left)\nprint(right)"
    run = subprocess.run([sys.executable, "-I", "-S", "-c", program], capture_output=True, text=True, check=True)
    left, right = map(Fraction, run.stdout.split())
    assert (left, right) == (found.left, found.right)


def test_quotient() -> None:
    assert Tightness(lambda n: (n, 2 * n), 3).quotient == Fraction(1, 2)


@pytest.mark.parametrize("measured", [None, (1, 0), (1, -1)])
def test_no_quotient_where_nothing_is_promised(measured) -> None:
    with pytest.raises(InvalidInput):
        _ = Tightness(lambda n: measured, 3).quotient


def test_the_search_climbs_and_repeats() -> None:
    def measure(n: int) -> tuple[Fraction, Fraction] | None:
        return None if n % 7 == 0 else (Fraction(100 - abs(n - 50)), Fraction(100))

    found = [search(measure, lambda r: r.randint(0, 10), lambda r, n: n + r.randint(-3, 3), seed=1) for _ in range(2)]
    assert found == [(50, 1), (50, 1)]
