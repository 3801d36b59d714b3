"""The board's round is the package's round: exactly, in random federations, for all draws, in every term."""

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from fedconvex.claims.claim import ClaimSetting, DrawScheme
from fedconvex.claims.methods import running
from fedconvex.claims.terms import (
    Vector,
    answers,
    drawn,
    expected,
    family,
    free,
    gradient,
    inner,
    last_answers,
    mean,
    memory,
    minimiser,
    number,
    parameter,
    parts,
    residuals,
    server,
    shared,
    solutions,
    value,
)
from fedconvex.methods import METHODS
from fedconvex.methods.fedprox import FedProx
from fedconvex.proofs_checks.kernel.board import RoundBoard
from fedconvex.proofs_checks.kernel.parameters import SettingParameters
from fedconvex.proofs_checks.kernel.round import Round
from fedconvex.proofs_checks.kernel.scalars import Refused
from fedconvex.proofs_checks.kernel.vectors import APART, FACTORS, KEPT, MEANS, NOISE, REPLACED, SAME

from .attacks import drawing
from .federations import Reality, Shadow

pytestmark = pytest.mark.beyond_core

a, b = parameter("a"), parameter("b")
HALF = Fraction(1, 2)
# The parameters of each method as formulas in a and b, and the parts of its state.
EXACT = {"FedProx": {"mu": a}, "FedDyn": {"alpha": a}, "FedSplit": {"stepsize": a}, "DANE": {"mu": a, "eta": b},
         "RegularizedFedSplit": {"stepsize": a, "regularization": b}, "FedADMM": {"rho": a}}  # fmt: skip
STEPS = {"FedLin": {"stepsize": a, "local_steps": number(2)},
         "FedDynOneGD": {"alpha": a}, "FedSGD": {"stepsize": a}, "FedGD": {"stepsize": a, "local_steps": number(3)},
         "FedNova": {"stepsize": a, "local_steps": number(2)},
         "FedAvgM": {"stepsize": a, "local_steps": number(2), "momentum": 1 / (1 + b)}}  # fmt: skip
SCAFFOLD = {f"Scaffold{o}": {"stepsize": a, "local_steps": number(2), "server_stepsize": b, "option": number(o)}
            for o in (1, 2)}  # fmt: skip
WITH_MEMORY = {"FedADMM", "FedDyn", "FedDynOneGD", "FedSplit", "RegularizedFedSplit", "Scaffold1", "Scaffold2"}
ONLY_EVERYONE = {"FedDANE": {"mu": a}, "FedPD": {"eta": a}, "Scaffnew": {"stepsize": a}}
PARTLY = EXACT | STEPS | SCAFFOLD
PLAIN = {name for name in (*PARTLY, *ONLY_EVERYONE) if METHODS[name.rstrip("12")].plain}


def setting(name: str, draws: tuple[str, int, int], **more: Any) -> ClaimSetting:
    """A setting of the method, its numbers of clients being parameters."""
    scheme, active, clients = draws
    counts = {"P": active, "m": clients}
    made = {"everyone": DrawScheme(), "uniform": DrawScheme("uniform", parameter("P"), parameter("m")),
            "independent": DrawScheme("independent", parameter("P"))}[scheme]  # fmt: skip
    return ClaimSetting(
        **running(name.rstrip("12"), **(PARTLY | ONLY_EVERYONE)[name]), draws=made, minimiser=True,
        signs=dict.fromkeys(("a", "b", "P", "m"), "positive"), counts=frozenset(counts),
        conditions=((parameter("m"), ">=", parameter("P")),),
        example={"a": HALF, "b": Fraction(3, 4)} | {n: Fraction(x) for n, x in counts.items()}, **more,
    )  # fmt: skip


AT_DRAWN_POINTS = [
    gradient(server(1)), gradient(drawn(answers) - 2 * family("u")), gradient(drawn(answers) - last_answers(1)),
    mean(gradient(server(1))), gradient(gradient(server(1))),
]  # fmt: skip


def vectors_of(reality: Reality) -> list[Vector]:
    state = reality.before
    found = [server(0), server(1), answers, minimiser, family("u"), free("v"), last_answers(0), last_answers(1),
             gradient(server(0)), gradient(answers), gradient(last_answers(0)), gradient(last_answers(1)),
             gradient(minimiser), gradient(family("u")), mean(answers), drawn(answers), drawn(family("u")),
             drawn(gradient(answers)), gradient(server(1)), mean(gradient(server(1))),
             mean(last_answers(1)), mean(gradient(last_answers(1))),
             Vector("named", ("x", family("u") / a)), server(1) - 2 * drawn(family("u"))]  # fmt: skip
    found += [part for n in state.shared for part in (shared(n, 0), shared(n, 1))]
    found += [part for n in state.memory for part in (memory(n, 0), memory(n, 1), mean(memory(n, 1)))]
    if reality.subproblem.weight:
        found += [solutions, residuals, answers - solutions]
    # the expectations of gradients at drawn points are not known
    return found + [Vector("expected", (u,)) for u in found] + AT_DRAWN_POINTS


def compare(made: ClaimSetting, seed: int, clients: int, weights: Any = None) -> tuple[set[Vector], int]:
    """Compares all vectors in all draws, and the expectations of all inner products and values.

    Returns the vectors without a meaning on the board, and the number of expectations that have one.
    """
    reality, board = Reality(made, seed, clients, weights), RoundBoard(SettingParameters(made))
    shadow, unknown, compared = Shadow(board, reality), set(), 0
    terms = vectors_of(reality)
    for term in terms:
        try:
            of_board = board.vector(term)
        except Refused:
            if not (term.head == "expected" and gradient(server(1)) in parts(term)):  # which has no name
                unknown.add(term)
            continue
        for turn in reality.turns:
            assert np.all(reality.vector(term, turn) == shadow.vector(of_board, turn)), (term, turn)
    known = [t for t in terms if t not in unknown and t.head != "expected"]
    for term in (*(inner(u, v) for i, u in enumerate(known) for v in known[: i + 1]), *map(value, known)):
        try:
            of_board = board.number(expected(term))
        except Refused:
            continue
        compared += 1
        assert reality.number(expected(term), reality.turns[0]) == shadow.quantity(of_board), term
    return unknown, compared


WEIGHTS = (HALF, Fraction(1, 3), Fraction(1, 6))


@pytest.mark.sample(7)
@pytest.mark.parametrize("name", [*PARTLY, *ONLY_EVERYONE])
def test_with_everyone_every_term_is_what_it_is_in_a_run(name) -> None:
    unknown, compared = compare(setting(name, ("everyone", 3, 3)), 1, 3, WEIGHTS)
    assert not unknown
    assert compared > 200


@pytest.mark.sample(6)
@pytest.mark.parametrize("draws", [("uniform", 1, 3), ("uniform", 2, 3), ("uniform", 2, 2), ("uniform", 1, 1)])
@pytest.mark.parametrize("name", PARTLY)
def test_with_uniform_draws_every_term_is_what_it_is_in_a_run(name, draws) -> None:
    unknown, compared = compare(setting(name, draws), 2, draws[2])
    assert not unknown
    assert compared > 200


@pytest.mark.sample(4)
@pytest.mark.parametrize("active", [1, 2])
@pytest.mark.parametrize("name", PARTLY)
def test_with_independent_draws_terms_without_memories_are_what_they_are_in_a_run(name, active) -> None:
    weights = None if name in PLAIN else WEIGHTS
    unknown, compared = compare(setting(name, ("independent", active, 3)), 3, 3, weights)
    new_memories = {u for u in unknown if last_answers(1) in parts(u)}
    assert unknown == new_memories or name in WITH_MEMORY
    assert compared >= 90


@pytest.mark.sample(3)
@pytest.mark.parametrize("answers", ["inexact", "error"])
@pytest.mark.parametrize("name", EXACT)
def test_answers_with_errors(name, answers) -> None:
    made = setting(name, ("uniform", 2, 3), answers=answers, inexactness=a)
    unknown, compared = compare(made, 4, 3)
    assert not unknown
    assert compared > 200


# ---- what the comparison must notice


OTHERS = {kinds: sorted({"1", "π", "σ", "πσ"} - {factor}) for kinds, (factor, _) in FACTORS.items()}
ZEROS = [(SAME, APART), (SAME, NOISE), (KEPT, NOISE), (APART, NOISE), (SAME, REPLACED), (KEPT, REPLACED)]
FAULTS = [  # a wrong factor of inner products, a product that is not 0, a wrong mean that shared vectors see
    *((FACTORS, kinds, [(other, FACTORS[kinds][1]) for other in others]) for kinds, others in OTHERS.items()),
    *((FACTORS, kinds, [("1", APART)]) for kinds in ZEROS),
    *((MEANS, kind, [("σ" if factor == "1" else "1", seen)]) for kind, (factor, seen) in MEANS.items()),
]


@pytest.mark.parametrize(("table", "kind", "wrong"), FAULTS)
def test_a_wrong_entry_of_the_boards_tables_is_noticed(table, kind, wrong, monkeypatch) -> None:
    for entry in wrong:
        monkeypatch.setitem(table, kind, entry)
        with pytest.raises(AssertionError):
            compare(setting("FedDyn", ("uniform", 2, 3)), 5, 3)


@pytest.mark.parametrize(
    ("name", "scheme"), [("FedProx", "uniform"), ("FedDyn", "independent"), ("FedDynOneGD", "independent")]
)
def test_clients_must_weigh_the_same_in_draws_and_means(name, scheme) -> None:
    """As `DrawScheme` says: averages of a uniform draw estimate the plain mean, of independent ones Σ p_k u_k."""
    with pytest.raises(AssertionError):
        compare(setting(name, (scheme, 2, 3)), 6, 3, WEIGHTS)


def test_a_second_draw_is_not_the_first(monkeypatch) -> None:
    """The board refuses FedDANE's second draw; the same draw in its place would be something else."""
    with pytest.raises(Refused, match="second draw"):
        RoundBoard(SettingParameters(drawing("FedDANE"))).vector(server(1))
    monkeypatch.setattr(Round, "_of_second_draw", Round.drawn)
    with pytest.raises(Refused, match="a subproblem that depends on the draw"):
        RoundBoard(SettingParameters(drawing("FedDANE"))).vector(server(1))


def test_every_method_is_compared_or_refused() -> None:
    compared = {name.rstrip("12") for name in (*PARTLY, *ONLY_EVERYONE)}
    in_attacks = {"AdaptiveFedProx", "FedAvg", "FedAdagrad", "FedAdam", "FedYogi", "Ditto", "PFedMe", "DIANA", "EF21"}
    assert set(METHODS) - compared == in_attacks


@pytest.mark.parametrize("name", ["FedDyn", "FedProx", "Scaffold2"])
@pytest.mark.parametrize(("active", "clients"), [(1, 3), (2, 3), (3, 3), (2, 2), (1, 1)])
def test_the_idle_clients_mean_square_is_what_it_is_in_a_run(name, active, clients) -> None:
    made = setting(name, ("uniform", active, clients))
    reality, board = Reality(made, 7, clients), RoundBoard(SettingParameters(made))
    shadow = Shadow(board, reality)
    u = family("u")
    for term in (server(0), answers, u, drawn(u), drawn(answers), answers - drawn(answers), u - 3 * drawn(answers),
                 answers + drawn(u) - server(0), server(1) - u * 2):  # fmt: skip
        total = 0
        for turn in reality.turns:
            squares = [x @ x for x in reality.vector(term, turn)]
            total += turn.probability * reality.mean(np.array(squares) * (turn.times == 0))
        assert total == shadow.quantity(board.idle_square(board.vector(term))), term


def test_a_method_that_looks_at_function_values_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    made = SettingParameters(setting("FedProx", ("everyone", 3, 3)))
    plain = FedProx.subproblem

    def looking(self: Any, state: Any, cohort: Any) -> Any:
        cohort.objective()
        return plain(self, state, cohort)

    assert RoundBoard(made).round.answers
    monkeypatch.setattr(FedProx, "subproblem", looking)
    with pytest.raises(Refused, match="only in runs"):
        assert RoundBoard(made).round.answers
