"""Random federations satisfy their settings, include the extremes, and one outside of the setting is told apart."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from fractions import Fraction
from itertools import islice
from typing import Any

import numpy as np
import pytest

import fedconvex as fc
from fedconvex.arithmetic.rationals import rational_root, root_above, root_below
from fedconvex.arithmetic.rationals import to_fraction as exact
from fedconvex.claims.claim import ClaimSetting, DrawScheme, equal
from fedconvex.claims.on_runs.admissibility import fractions_of, offences
from fedconvex.claims.on_runs.choices import GRID, Choices
from fedconvex.claims.on_runs.federations import AnswerError, ExactFederation
from fedconvex.claims.on_runs.random_federations import federation_of, random_federations
from fedconvex.claims.on_runs.random_parameters import NoFederation
from fedconvex.claims.settings import NotASetting
from fedconvex.claims.terms import answers, gradient, local_gradients, mean, number, parameter, server
from fedconvex.participation import Draw, Full, Uniform
from fedconvex.statements.statement import Statement
from fedconvex.theory import feddyn, fedprox, fedsplit, papers
from fedconvex.theory.fedsplit.vectors import vanishes

pytestmark = pytest.mark.beyond_core

F = Fraction


def with_settings() -> Iterator[Statement]:
    for statement in (s for paper in papers().values() for s in paper.everything):
        try:
            statement.setting  # noqa: B018 - whether it has one
        except NotASetting:
            continue
        yield statement


@pytest.mark.sample(17)
@pytest.mark.parametrize("statement", list(with_settings()), ids=lambda s: s.identifier)
def test_every_setting_of_the_catalogue_has_federations(statement: Statement) -> None:
    for federation in islice(random_federations(statement.setting), 3):
        assert offences(statement.setting, federation) == []


@pytest.mark.slow
def test_the_extremes_are_among_them() -> None:
    seen = set()
    setting = feddyn.lemma8.setting
    for federation in islice(random_federations(setting), 300):
        assert isinstance(federation.participation, Uniform)
        m, P = federation.problem.num_clients, federation.participation.K
        low, high = federation.parameters["mu"], federation.parameters["L"]
        clients: Any = federation.player.rounds.clients  # the functions that a plain method averages, without weights
        curvatures = [exact(h[0, 0]) for h in clients.H if h.nrows() == 1]
        seen |= {"one client"} if m == 1 else set()
        seen |= {"all drawn"} if 1 < P == m else {"one drawn"} if P == 1 < m else set()
        seen |= {"least"} if curvatures and all(h == low for h in curvatures) else set()
        seen |= {"largest"} if curvatures and all(h == high for h in curvatures) else set()
        seen |= {"both"} if low < high and {low, high} <= set(curvatures) else set()
        alike = all(h == clients.H[0] for h in clients.H) and (clients.c == clients.c[0]).all()
        seen |= {"identical"} if m > 1 and alike else set()
        seen |= {f"{federation.problem.dim} dimensions", f"{len(federation.earlier)} rounds before"}
    assert seen == {
        "one client", "all drawn", "one drawn", "least", "largest", "both", "identical", "1 dimensions", "2 dimensions",
        "3 dimensions", *(f"{n} rounds before" for n in range(4)),
    }  # fmt: skip


def test_the_same_choices_give_the_same_federation_and_one_changed_choice_another() -> None:
    setting = feddyn.lemma8.setting
    number, first = next((n, f) for n in range(100) if (f := possible(setting, Choices(n))) is not None)
    choices = Choices(number)
    federation_of(setting, None, choices)
    assert str(possible(setting, Choices("another seed", choices.made))) == str(first)
    others = [possible(setting, Choices(0, [*choices.made[:k], GRID - x, *choices.made[k + 1 :]]))
              for k, x in enumerate(choices.made)]  # fmt: skip
    assert sum(other is not None and str(other) != str(first) for other in others) > len(others) / 2


def possible(setting: ClaimSetting, choices: Choices) -> ExactFederation | None:
    try:
        return federation_of(setting, None, choices)
    except NoFederation:
        return None


def test_the_allowed_dissimilarity_is_used_to_the_full() -> None:
    setting = fedprox.theorem4.setting
    slacks = []
    for run in islice(random_federations(setting), 200):
        clients, weights = run.player.rounds.clients, run.player.rounds.weights
        g = clients.gradients(run.moments[-1].state.server)
        mean, squares = np.dot(weights, g), np.dot(weights, (g * g).sum(-1))
        square = (mean * mean).sum()
        if square != 0 and run.problem.num_clients > 1 and run.parameters["B"] > 1:
            slacks.append(float(1 - (exact(squares / square) - 1) / (run.parameters["B"] ** 2 - 1)))
    assert min(slacks) >= 0
    assert sum(slack < 0.01 for slack in slacks) > len(slacks) / 4


BASE = ClaimSetting(
    method="FedDyn", method_parameters={"alpha": parameter("alpha")}, signs={"alpha": "positive", "L": "positive",
    "P": "positive"}, counts=frozenset({"P"}), conditions=((parameter("alpha"), ">", parameter("L").sqrt()),),
    curvature=(number(0), parameter("L")), draws=DrawScheme("uniform", parameter("P"), number(2)), minimiser=True,
    starts_at_own_minima=True,
)  # fmt: skip
GOOD: dict[str, Any] = {
    "problem": fc.Quadratic([[[1]], [[0]]], [[1], [0]]), "method": fc.FedDyn(alpha=3), "start": [1],
    "participation": Uniform(1), "parameters": {"alpha": F(3), "L": F(2), "P": F(1)}, "first_models": [[1], [5]],
}  # fmt: skip

TOO_FAR = (AnswerError(F(1), (F(1),)),) * 2


def test_a_federation_of_the_setting_has_no_offences() -> None:
    assert offences(BASE, ExactFederation(**GOOD)) == []


@pytest.mark.parametrize(
    ("word", "change"),
    [
        ("alpha has no value", {"parameters": {"L": F(2), "P": F(1)}}),
        ("is not positive", {"parameters": GOOD["parameters"] | {"L": F(0)}}),
        ("is no count", {"parameters": GOOD["parameters"] | {"P": F(3, 2)}}),
        ("α > √L does not hold", {"parameters": GOOD["parameters"] | {"L": F(9)}}),
        ("not FedDyn", {"method": fc.FedProx(mu=3)}),
        ("the method's alpha", {"method": fc.FedDyn(alpha=4)}),
        ("the local solver", {"local_solver": fc.GradientDescent(steps=3, stepsize=F(1, 9))}),
        ("they are error", {"answers": "error", "inexactness": F(1), "deviations": (TOO_FAR,)}),
        ("uniform", {"participation": Full()}),
        ("number of drawn", {"participation": Uniform(2)}),
        ("number of clients", {"problem": fc.Quadratic([[[1]]] * 3, [[1]] * 3), "first_models": [[1]] * 3}),
        ("earlier draw", {"earlier": (Draw(np.array([0, 1])),)}),
        ("below 0", {"problem": fc.Quadratic([[[2]], [[-1]]], [[2], [-5]])}),
        ("above 2", {"problem": fc.Quadratic([[[F(2) + F(1, 10**30)]], [[0]]], [[F(2) + F(1, 10**30)], [0]])}),
        ("minimiser", {"problem": fc.Quadratic([[[0]], [[0]]], [[1], [0]])}),
        ("first model", {"first_models": None}),
        ("first model", {"first_models": [[1 + F(1, 10**30)], [5]]}),
    ],
)  # fmt: skip
def test_every_offence_is_named(word: str, change: dict[str, Any]) -> None:
    assert any(word in offence for offence in offences(BASE, ExactFederation(**GOOD | change)))


AT_POINT: dict[str, Callable[[Fraction], ClaimSetting]] = {
    "dissimilar": lambda x: replace(BASE, dissimilarity=number(x)),
    "variance": lambda x: replace(BASE, variance=number(x)),
    "gradient is smaller": lambda x: replace(BASE, large_gradient=number(x)),
}


@pytest.mark.parametrize(("word", "inside", "outside"), [
    ("dissimilar", F(2), F(1)), ("variance", F(9, 4), F(2)), ("gradient is smaller", F(9, 4), F(5, 2)),
])  # fmt: skip
def test_conditions_at_the_servers_point_are_exact(word: str, inside: Fraction, outside: Fraction) -> None:
    # the gradients at 4 are 3 and 0: mean 3/2, mean square 9/2, so B² = 2 and σ² = 9/4
    run = ExactFederation(**GOOD | {"start": [4]})
    assert offences(AT_POINT[word](inside), run) == []
    assert any(word in offence for offence in offences(AT_POINT[word](outside), run))


def test_a_contradictory_setting_has_no_federation() -> None:
    setting = replace(BASE, conditions=((number(0), ">", parameter("L")),))
    with pytest.raises(NoFederation):
        next(random_federations(setting))


def test_answers_beyond_what_is_allowed_are_refused() -> None:
    with pytest.raises(fc.InvalidInput, match="allowed"):
        ExactFederation(**GOOD | {"deviations": ((AnswerError(F(11, 10), (F(1),)),) * 2,)})
    with pytest.raises(fc.InvalidInput, match="deviations"):
        ExactFederation(**GOOD | {"answers": "inexact", "inexactness": F(1)})


@pytest.mark.parametrize("x", [F(0), F(4, 9), F(2), F(1, 10**9), F(10**9, 7)])
def test_rounded_roots_are_on_their_side(x: Fraction) -> None:
    unit = F(1, 1 << 12)
    assert root_below(x, unit) ** 2 <= x <= root_above(x, unit) ** 2
    assert root_above(x, unit) - root_below(x, unit) in (0, unit)
    assert (rational_root(x) is None) == (root_above(x, unit) > root_below(x, unit))


def test_stepsizes_with_a_root_stay_rational() -> None:
    for run in islice(random_federations(fedsplit.theorem1.setting), 20):
        mu, kappa = run.parameters["mu"], run.parameters["kappa"]
        assert (run.method.stepsize * mu) ** 2 * kappa == 1  # type: ignore[attr-defined]


def test_matrices_are_read_exactly() -> None:
    H = GOOD["problem"].weighted_hessian("exact")
    assert fractions_of(H).tolist() == [[F(1, 2)]]


@pytest.mark.parametrize("name", ["equation5", "equation7", "equation13", "proposition3"])
def test_a_federation_at_rest_is_told_from_one_that_moves(name: str) -> None:
    statement: Statement = getattr(fedsplit, name)
    moving = 0
    for run in islice(random_federations(statement.setting, statement.claim), 20):
        found = offences(statement.setting, replace(run, rests=False))
        assert found in ([], ["rests: the state is no fixed point"])
        moving += bool(found)
    assert moving > 10


def test_gradients_do_not_vanish_where_fedprox_rests() -> None:
    """Its fixed points are no minimisers: the claim's check notices."""
    setting = fedsplit.proposition2.setting
    wrong = vanishes(mean(gradient(server(0))))
    assert any(wrong.on(run).holds is False for run in islice(random_federations(setting, wrong), 20))


def test_the_sum_of_local_gradients_is_what_moves_a_client() -> None:
    """s·Σ∇f = x − answer, for the numbers of local steps that a setting with any number of them has; −Σ∇f is not."""
    setting = fedsplit.equation4.setting
    seen = set()
    moved = equal(server(0) - answers, parameter("stepsize") * local_gradients)
    wrong = equal(server(0) - answers, -parameter("stepsize") * local_gradients)
    refuted = 0
    for run in islice(random_federations(setting), 30):
        seen.add(run.parameters["local_steps"])
        assert moved.on(run).holds
        refuted += wrong.on(run).holds is False
    assert len(seen) > 1
    assert refuted > 20
