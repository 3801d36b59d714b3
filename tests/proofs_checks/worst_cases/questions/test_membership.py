"""Which federations of quadratics a class of functions contains: against NumPy's eigenvalues, and exactly."""

from dataclasses import replace
from fractions import Fraction as F
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import fedconvex as fc
from fedconvex.proofs_checks import (
    ClientGroup,
    ClientGroups,
    Quadratics,
    SimilarClients,
    SmoothConvex,
    SmoothStronglyConvex,
    WeaklyConvex,
    error_floor,
    lyapunov,
    worst_case,
)
from fedconvex.proofs_checks.worst_cases.instances.quadratic_clients import AttainingFederation
from fedconvex.proofs_checks.worst_cases.instances.replay import attained_ratio
from fedconvex.proofs_checks.worst_cases.questions.function_classes import (
    Differentiable,
    FunctionClass,
    NotSmooth,
    PolyakLojasiewicz,
    QuadraticGrowth,
)

SMALL = F(1, 10**30)
TURN = np.array([[F(3, 5), F(4, 5)], [F(-4, 5), F(3, 5)]])
CLASSES = [
    (SmoothStronglyConvex(1, 3), 1, 3), (SmoothConvex(2), 0, 2), (WeaklyConvex(1, 2), -1, 2), (Quadratics(0, 3), 0, 3),
    (NotSmooth(-1), -1, np.inf), (Differentiable(), -np.inf, np.inf), (SimilarClients(1, 3, 9), 1, 3),
    (ClientGroups(ClientGroup(SmoothStronglyConvex(1, 3), 1)), 1, 3),
]  # fmt: skip


def federation(hessians: Any) -> fc.Quadratic:
    return fc.Quadratic(hessians, [[0] * len(H) for H in hessians])


@st.composite
def hessians(draw: Any) -> np.ndarray:
    """Symmetric matrices of fractions."""
    d = draw(st.integers(1, 3))
    entries = st.integers(-12, 16).map(lambda n: F(n, 4))
    rows = draw(st.lists(st.lists(entries, min_size=d, max_size=d), min_size=d, max_size=d))
    A = np.array(rows, dtype=object)
    return (A + A.T) / 2


@pytest.mark.parametrize(("of", "low", "high"), CLASSES)
@given(H=hessians())
def test_a_client_belongs_where_no_eigenvalue_is_outside(of: FunctionClass, low: float, high: float, H: Any) -> None:
    values = np.linalg.eigvalsh(np.array(H, dtype=float))
    distance = min(values[0] - low, high - values[-1])
    assume(abs(distance) > 1e-9)
    assert of.contains(federation([H])) is bool(distance > 0)


@pytest.mark.parametrize(("of", "low", "high"), CLASSES)
def test_the_ends_belong_and_what_is_hardly_beyond_does_not(of: FunctionClass, low: Any, high: Any) -> None:
    for end, outwards in ((low, -1), (high, 1)):
        if abs(end) != np.inf:
            beyond = end + outwards * SMALL
            assert of.contains(federation([[[F(end)]]]))
            assert of.contains(federation([TURN @ np.diag([F(end), F(end)]) @ TURN.T]))
            assert not of.contains(federation([[[beyond]]]))
            assert not of.contains(federation([TURN @ np.diag([F(end), beyond]) @ TURN.T]))


@given(values=st.lists(st.integers(-4, 16).map(lambda n: F(n, 4)), min_size=2, max_size=2), c=st.integers(-2, 2))
def test_quadratics_that_satisfy_the_inequality_of_polyak_and_lojasiewicz(values: list[F], c: int) -> None:
    """Curvatures 0, or from 1 to 3, and bounded below; ‖∇f‖² ≥ 2(f − min f) is tried at points, too."""
    H, slope = TURN @ np.diag(values) @ TURN.T, TURN @ np.array([F(c), F(0)])
    right = all(x == 0 or 1 <= x <= 3 for x in values) and (values[0] != 0 or c == 0)
    assert PolyakLojasiewicz(1, 3).contains(fc.Quadratic([H], [slope])) is right
    if min(values) >= 0 and (values[0] != 0 or c == 0):
        least = -(F(c) ** 2) / (2 * values[0]) if c else F(0)
        points = [np.array([F(i), F(j)]) for i in (-2, 0, 1) for j in (-1, 0, 3)]
        gaps = [x @ H @ x / 2 - slope @ x - least for x in points]
        slopes = [H @ x - slope for x in points]
        holds = all(g @ g >= 2 * gap for g, gap in zip(slopes, gaps, strict=True))
        assert holds or not right
    assert not PolyakLojasiewicz(1, 3).contains(federation([[[F(2)]], [[F(2)]]]))  # a mean need not be of the class


@pytest.mark.parametrize(("mu", "L"), [(1, 4), (1, 10), (F(1, 3), F(5, 2))])
def test_gradient_steps_without_convexity_have_the_known_rate(mu: Any, L: Any) -> None:
    """(2 − 2μ/L)/(2 + μ/L) for a step of 1/L; no federation outside of the class is said to attain anything."""
    kappa = F(mu) / F(L)
    found = worst_case(fc.FedGD(stepsize=1 / F(L)), PolyakLojasiewicz(mu, L), 1, 1, "gap_ratio")
    known = (2 - 2 * kappa) / (2 + kappa)
    assert known <= found.upper <= known * (1 + F(1, 10**6))
    assert (1 - kappa) ** 2 == found.lower
    assert PolyakLojasiewicz(mu, L).contains(found.federation())
    with pytest.raises(ValueError, match="not written out"):
        found.proof()
    for count in (2, "any"):
        with pytest.raises(fc.InvalidInput, match="need not be one"):
            worst_case(fc.FedGD(stepsize=1 / F(L)), PolyakLojasiewicz(mu, L), count, 1, "gap_ratio")


def growing(x: F) -> tuple[F, F]:
    """Slope and value of a function of curvature 4, 0 and 4 again: it grows by x²/2, with equality at x = 8."""
    steep, flat, far = min(x, F(1)), min(max(x - 1, F(0)), F(6)), max(x - 7, F(0))
    return 4 * steep + 4 * far, 2 * steep**2 + 4 * flat + 4 * far + 2 * far**2


def test_convex_functions_that_grow_have_a_rate() -> None:
    """1 − μ/L for a step of 1/L, and V along a function that is not strongly convex; momentum and noise have theirs."""
    clients, method = QuadraticGrowth(1, 4), fc.FedGD(stepsize=F(1, 4))
    found = worst_case(method, clients, 1)
    assert F(9, 16) == found.lower < F(3, 4) <= found.upper <= F(3, 4) * (1 + F(1, 10**6))
    assert clients.contains(found.federation())
    rate = lyapunov(method, clients, 1)
    assert F(9, 16) == rate.lower < rate.upper <= F(3, 4) * (1 + F(1, 10**6))
    assert clients.contains(rate.federation())
    with pytest.raises(ValueError, match="no proof"):
        replace(rate.function, rate=F(9, 16))  # strongly convex functions decrease by that
    closest = F(0)
    for x in (F(k, 8) for k in range(1, 161)):
        slope, value = growing(x)
        assert value >= x * x / 2
        closest = max(closest, ((x - slope / 4) / x) ** 2)
    assert F(73, 100) < closest <= found.upper
    assert 0 < error_floor(method, clients, 1).lower < error_floor(method, clients, 1).upper < F(1, 2)
    assert lyapunov(fc.FedAvgM(stepsize=F(1, 4), momentum=F(1, 3)), clients, 1).upper < 1
    assert not clients.contains(federation([[[F(0)]]]))
    assert not clients.contains(federation([[[F(2)]], [[F(2)]]]))
    with pytest.raises(fc.InvalidInput, match="need not be one"):
        lyapunov(method, clients)
    with pytest.raises(fc.InvalidInput, match="mu"):
        QuadraticGrowth(5, 4)


@pytest.mark.parametrize(
    ("method", "rounds", "metric"),
    [(fc.FedGD(stepsize=F(1, 8), local_steps=2), 1, "gap_ratio"), (fc.FedGD(stepsize=F(1, 8)), 2, "gap_ratio"),
     (fc.FedProx(mu=8), 1, "gap_ratio"), (fc.FedGD(stepsize=F(1, 16)), 1, "gap_ratio")],
)  # fmt: skip
def test_shorter_steps_without_convexity_have_a_rate(method: Any, rounds: int, metric: Any) -> None:
    """At most the one that every step up to 1/L has: f(w⁺) <= f(w) − s(1 − sL/2)‖∇f(w)‖², and the condition."""
    found = worst_case(method, PolyakLojasiewicz(1, 4), 1, rounds, metric)
    steps = rounds * getattr(method, "local_steps", 1)
    s = getattr(method, "stepsize", F(1, 8))
    assert found.lower <= found.upper
    if not isinstance(method, fc.FedProx):
        assert found.upper < (1 - 2 * s * (1 - 2 * s)) ** steps
    assert found.upper < 1


@pytest.mark.parametrize("rounds", [1, 2, 3])
def test_mean_gradients_of_the_class_are_those_of_smooth_functions(rounds: int) -> None:
    """Started from the gap, few short steps do not see the Polyak–Łojasiewicz condition."""
    ours, of_smooth = (
        worst_case(fc.FedGD(stepsize=F(1, 8)), functions, 1, rounds, "mean_gradient_norm")
        for functions in (PolyakLojasiewicz(1, 4), WeaklyConvex(4, 4))
    )
    assert ours.lower == ours.upper <= of_smooth.upper


def test_a_group_is_of_a_class_of_curvatures() -> None:
    """Of the groups' clients only curvatures are looked at, which do not decide about the first of these classes."""
    for functions in (PolyakLojasiewicz(1, 4), QuadraticGrowth(1, 4), NotSmooth(0), Differentiable()):
        with pytest.raises(fc.InvalidInput, match="cannot be the class of a group"):
            ClientGroup(functions, 1)


@pytest.mark.parametrize(
    ("name", "made"),
    [("mu", lambda: SmoothStronglyConvex("a", 4)), ("L", lambda: SmoothConvex(float("nan"))),
     ("L_minus", lambda: WeaklyConvex("x", 1)), ("mu", lambda: Quadratics(float("nan"), 1)),
     ("share", lambda: ClientGroup(SmoothConvex(1), "s")), ("delta", lambda: SimilarClients(1, 4, "d"))],
)  # fmt: skip
def test_what_is_no_number_is_refused_by_its_name(name: str, made: Any) -> None:
    with pytest.raises(fc.InvalidInput) as refused:
        made()
    assert refused.value.argument == name


def test_every_client_is_asked_in_its_own_group() -> None:
    groups = ClientGroups(ClientGroup(SmoothConvex(1), 1), ClientGroup(SmoothConvex(4), 2))
    flat, steep = [[F(1)]], [[F(4)]]
    assert groups.contains(federation([flat, steep]))
    assert not groups.contains(federation([steep, flat]))
    assert groups.contains(federation([steep, flat, steep]), [1, 0, 1])
    assert not groups.contains(federation([steep, flat, steep]), [1, 0, 0])
    assert not groups.contains(federation([flat]))
    assert not groups.contains(federation([flat, steep, steep]))


@pytest.mark.parametrize("outside", [F(1, 2), 1 - SMALL, 2 + SMALL, F(3)])
@pytest.mark.parametrize("metric", ["distance", "gap", "gradient_norm", "descent"])
def test_no_lower_bound_comes_from_another_class(outside: F, metric: str) -> None:
    question = worst_case(fc.FedGD(stepsize=F(1, 2)), SmoothStronglyConvex(1, 2), metric=metric).question
    ratios = []
    for curvature in (F(1), outside):
        problem = fc.Quadratic([[[curvature]]] * 2, [[0]] * 2)
        ratios.append(attained_ratio(question, AttainingFederation(problem, np.array([[F(1)], [F(1)]], dtype=object))))
    assert ratios[0] is not None
    assert ratios[1] is None


@pytest.mark.parametrize("of", [of for of, _, _ in CLASSES], ids=repr)
@pytest.mark.parametrize("wrong", [None, [], [[[F(2)]]], np.eye(2), "H", fc.LeastSquares([[[1]]], [[1]])], ids=repr)
def test_what_is_no_federation_is_refused(of: FunctionClass, wrong: Any) -> None:
    with pytest.raises(fc.InvalidInput, match=r"^federation = .* give Quadratic\(H, c\)"):
        of.contains(wrong)


@pytest.mark.parametrize("members", [[1], [-1], [0, 7], ["0"]])
def test_groups_that_there_are_not_are_refused(members: Any) -> None:
    with pytest.raises(fc.InvalidInput, match=r"^members = .* are no groups; give numbers from 0 to 0"):
        ClientGroups(ClientGroup(SmoothConvex(4), 1)).contains(federation([[[F(1)]]] * len(members)), members)


def test_unequal_weights_move_the_mean_of_similar_clients() -> None:
    of = SimilarClients(1, 4, F(3, 4))
    hessians = [[[F(1)]], [[F(2)]]]
    assert of.contains(fc.Quadratic(hessians, [[0], [0]], [F(1, 4), F(3, 4)]))
    assert not of.contains(fc.Quadratic(hessians, [[0], [0]], [F(1, 8), F(7, 8)]))


@pytest.mark.parametrize(
    "curvatures", [(F(1, 2), F(1, 2), F(3, 2)), (F(3, 2), F(3, 2), F(1, 2))], ids=["above", "below"]
)
def test_one_client_is_farther_from_the_mean_than_the_others(curvatures: tuple[F, ...]) -> None:
    alike = federation([[[h]] for h in curvatures])
    assert not SimilarClients(F(1, 4), 2, F(1, 2)).contains(alike)
    assert not SimilarClients(F(1, 4), 2, F(2, 3) - SMALL).contains(alike)
    assert SimilarClients(F(1, 4), 2, F(2, 3)).contains(alike)
