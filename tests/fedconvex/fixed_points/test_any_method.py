"""Fixed points, uniqueness and attraction are those of a method's own code, whatever it is: against its exact runs."""

import ast
from dataclasses import MISSING, fields, replace
from fractions import Fraction as F
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from any_methods import AFFINE, L2GD, LOGISTIC, PLAIN, REFUSED, OfAPlainFloat, changed, of_runs, written
from flint import fmpq
from hypothesis import assume, example, given
from hypothesis import strategies as st
from problem_makers import ball_contains, few, floats, least_squares, quadratics

import fedconvex as fc
from fedconvex.errors import NoFixedPoint, NotConverged
from fedconvex.fixed_points.convergence_rates import spectral_radius
from fedconvex.methods import METHODS
from fedconvex.methods.base import State
from fedconvex.parameters import in_rationals
from fedconvex.problems.subproblem import Subproblem
from fedconvex.proofs_checks import SmoothStronglyConvex, lyapunov, worst_case
from fedconvex.runs.rounds import rounds_of

S, STEPS = F(1, 8), fc.GradientDescent(steps=2, stepsize=F(1, 40))
WEIGHTED = fc.Quadratic(PLAIN.H, PLAIN.c, weights=[1, 2, 3])
FLAT = fc.LeastSquares([[[1, 1]], [[2, 2], [1, 1]], [[0, 0]]], [[1], [0, 3], [1]])  # any (t, −t) is free
BENT = fc.Quadratic([[[3, 0], [0, 1]], [[-1, 0], [0, 2]], [[1, 0], [0, 1]]], [[1, 2], [3, -1], [0, 1]])
DRIFT = fc.Quadratic([[[1, 0], [0, 0]]] * 3, [[1, 1], [1, 0], [0, 2]])
PACKAGE = {
    "FedGD": fc.FedGD(stepsize=S, local_steps=3), "unequal": fc.FedGD(stepsize=S, local_steps=(3, 1, 2)),
    "wild": fc.FedGD(stepsize=2), "FedProx": fc.FedProx(mu=2), "FedNova": fc.FedNova(stepsize=S, local_steps=(1, 3, 2)),
    "FedAvgM": fc.FedAvgM(stepsize=S, local_steps=2), "fast": fc.FedAvgM(stepsize=F(2, 3), momentum=F(99, 100)),
    "FedSplit": fc.FedSplit(stepsize=F(1, 2)), "warm": fc.FedSplit(stepsize=F(1, 2), start="warm"),
    "Regularized": fc.RegularizedFedSplit(stepsize=F(1, 2), regularization=F(1, 3)), "FedDyn": fc.FedDyn(alpha=2),
    "FedDynOneGD": fc.FedDynOneGD(alpha=9), "FedPD": fc.FedPD(eta=F(1, 2)), "FedADMM": fc.FedADMM(rho=2),
    "pulled": fc.FedADMM(rho=2, server_stepsize=F(1, 2)), "pushed": fc.FedADMM(rho=2, server_stepsize=F(3, 2)),
    "DANE": fc.DANE(mu=2), "FedDANE": fc.FedDANE(mu=3), "FedLin": fc.FedLin(stepsize=S, local_steps=(1, 3, 2)),
    "SCAFFOLD": fc.Scaffold(stepsize=S, local_steps=(2, 1, 2)), "option I": fc.Scaffold(stepsize=S, option=1),
    "Scaffnew": fc.Scaffnew(stepsize=S), "Ditto": fc.Ditto(stepsize=S, local_steps=2, regularization=1),
    "pFedMe": fc.PFedMe(regularization=2, stepsize=S, local_steps=3),
}  # fmt: skip
NOT_ANALYSED = {"FedAvg", "FedSGD", "AdaptiveFedProx", "DIANA", "EF21"}
NOT_ANALYSED |= {name for name in METHODS if METHODS[name].takes_square_roots}
for name in sorted(METHODS.keys() - {type(method).__name__ for method in PACKAGE.values()} - NOT_ANALYSED):
    PACKAGE[name] = METHODS[name](**{f.name: S for f in fields(METHODS[name]) if f.default is MISSING})  # type: ignore[arg-type]


def check(method: Any, problem: Any, solver: Any = None, rounds: int = 60) -> Any:
    """The exact fixed point is what exact runs go around; all arithmetics agree; floats go there, or not."""
    point, unique, radius = of_runs(method, problem, solver, rounds)
    if point is None:
        for arithmetic in ("exact", "float", "ball"):
            with pytest.raises(NoFixedPoint):
                fc.fixed_point(method, problem, arithmetic, local_solver=solver)
        return None
    stop = fc.fixed_point(method, problem, "exact", local_solver=solver)
    assert not stop.unique or stop.point.tolist() == point.tolist()
    assert unique is None or stop.unique is unique
    others = [fc.fixed_point(method, problem, name, local_solver=solver) for name in ("float", "ball")]
    assert abs(others[0].point - floats(stop.point)).max() <= 1e-7 * (1 + abs(floats(stop.point)).max())
    assert all(map(ball_contains, others[1].point, stop.point))
    if abs(radius - 1) > 1e-5:
        assert all(bool(one.attracting) is bool(unique and radius < 1) for one in (stop, *others))
    if unique and method.is_stateless:
        rounds_in_floats = rounds_of(method, problem, "float", solver)
        found = spectral_radius(rounds_in_floats, rounds_in_floats.start(np.zeros(problem.dim))).value
        assert found == pytest.approx(radius, rel=1e-6, abs=1e-6)
    if unique and radius < 0.95:
        for x0 in ([0] * problem.dim, [7] * problem.dim, [-30, *[5] * (problem.dim - 1)]):
            run = fc.simulate(method, problem, 300, x0=x0, local_solver=solver, progress=False)
            unseen = abs(run.state.flat()).max() > 1e6  # memories whose growth cancels in the average, but for rounding
            assert unseen or abs(run.points[-1] - floats(stop.point)).max() < 1e-4 * (1 + abs(floats(stop.point)).max())
    return stop


@pytest.mark.beyond_core  # takes seconds
@pytest.mark.sample(40)
@pytest.mark.parametrize(
    "problem", [PLAIN, WEIGHTED, FLAT, BENT, DRIFT], ids=["plain", "weighted", "flat", "bent", "drift"]
)
@pytest.mark.parametrize("name", [*AFFINE, *PACKAGE])
def test_fixed_points_are_those_of_exact_runs(name: str, problem: Any) -> None:
    method = (AFFINE | PACKAGE)[name]
    strong = {n: 5 if n in ("alpha", "rho") else F(1, 5) for n in ("alpha", "rho", "eta", "stepsize")}
    solving = ("FedSplit", "warm", "FedDyn", "FedPD", "FedADMM", "pulled", "pushed", "Regularized")
    if problem is BENT and name in solving:
        method = replace(method, **{n: value for n, value in strong.items() if hasattr(method, n)})
    check(method, problem)
    if name in ("FedProx", "FedSplit", "warm", "FedDyn", "FedPD", "FedADMM", "DANE", "Scaffnew", "FedLin", "pFedMe"):
        check(method, problem, STEPS)


@few
@given(problem=st.one_of(least_squares(), quadratics()), name=st.sampled_from([*AFFINE, *PACKAGE]), steps=st.booleans())
def test_on_drawn_problems(problem: Any, name: str, steps: bool) -> None:
    method, solver = (AFFINE | PACKAGE)[name], fc.GradientDescent(steps=2, stepsize=F(1, 7)) if steps else None
    if isinstance(getattr(method, "local_steps", 1), tuple):
        method = replace(method, local_steps=2)
    try:
        rounds_of(method, problem, "exact", solver)
    except fc.InvalidInput:  # a local problem without a solution
        assume(False)
    check(method, problem, solver)


def affine_method(numbers: Any, memory: bool) -> Any:
    """A round with drawn coefficients of w, the average answer, the answers, the memories and their mean."""
    a, b, c, d, e, f, g, h = numbers

    if not memory:
        return written(
            lambda s, k, mean, p: State(
                (a * s.server + b * mean + c * s.shared["v"]) / 2, shared={"v": d * mean / 2 + e * s.server / 2}
            ),
            lambda w, repeat: {"shared": {"v": f * w}},
        )
    return written(
        lambda s, k, mean, p: State(
            (a * s.server + b * mean + c * k.average(s.memory["z"])) / 2,
            memory={"z": (d * s.memory["z"] + e * p + f * k.points) / 2},
        ),
        lambda w, repeat: {"memory": {"z": repeat(g * w)}},
        subproblem=lambda self, s, k: Subproblem(start=k.points + h * (k.points - s.memory["z"]) / 2),
    )  # fmt: skip


@few
@given(
    numbers=st.tuples(*[st.integers(-2, 2)] * 8),
    memory=st.booleans(),
    problem=st.sampled_from([PLAIN, WEIGHTED, FLAT, DRIFT]),
)
@example(numbers=(0, 2, 0, 1, 1, 0, 0, 0), memory=True, problem=WEIGHTED)  # rests where FedGD does
@example(numbers=(2, 0, 0, 0, 0, 0, 0, 0), memory=False, problem=PLAIN)
@example(numbers=(0, 2, 2, 0, -2, 2, 0, 1), memory=True, problem=FLAT)  # from (1, 0) and (0, 1) rounds go off
@example(numbers=(0, 2, 1, 0, 0, -2, 0, 0), memory=False, problem=FLAT)  # memories choose one of many solutions
def test_rounds_with_drawn_coefficients(numbers: Any, memory: bool, problem: Any) -> None:
    check(affine_method(numbers, memory), problem)


OVERRIDDEN = {
    "subproblem": lambda self, state, cohort: Subproblem(
        start=2 * cohort.points, weight=self.proximal_weight, center=cohort.points + 1
    ),
    "update": lambda self, state, cohort, answers: State(
        cohort.average(answers.points) / 2, state.shared, state.memory
    ),
    "initial_state": None,
    "local_solver": property(lambda self: fc.GradientDescent(steps=1, stepsize=F(1, 50))),
}


@pytest.mark.parametrize("item", OVERRIDDEN)
@pytest.mark.parametrize("name", ["FedGD", "FedProx", "FedSplit", "SCAFFOLD", "FedDyn", "DANE"])
def test_what_a_subclass_changes_is_seen(name: str, item: str) -> None:
    parent = PACKAGE[name]

    def initial_state(self: Any, server: Any, repeat: Any) -> State:
        first = type(parent).initial_state(self, server, repeat)
        return State(
            first.server, {n: v + 1 for n, v in first.shared.items()}, {n: 2 * v + 1 for n, v in first.memory.items()}
        )

    check(changed(parent, **{item: OVERRIDDEN[item] or initial_state}), PLAIN)


@pytest.mark.parametrize("problem", [PLAIN, LOGISTIC], ids=["quadratic", "logistic"])
@pytest.mark.parametrize("words", REFUSED)
def test_what_is_not_affine_is_refused_with_its_reason(words: str, problem: Any) -> None:
    with pytest.raises(fc.InvalidInput, match=f"^method = (.|\n)*({words})"):
        fc.fixed_point(REFUSED[words], problem)


def test_the_servers_ratio_of_norms_is_refused_by_every_analysis() -> None:
    clients, method = SmoothStronglyConvex(mu=1, L=4), list(REFUSED.values())[-1]
    for call in (
        lambda: lyapunov(method, clients),
        lambda: worst_case(method, clients),
        lambda: fc.diagnose([3.0, 2, 1, 1, 1, 1], method, PLAIN),
    ):
        with pytest.raises(fc.InvalidInput, match="not affine in its state"):
            call()


def adaptive(step: Any, second: Any) -> Any:
    """A method whose server keeps a first and a second moment: (its step, the second moment after the round)."""

    def update(s: State, c: Any, a: Any, p: Any) -> State:
        m = (s.shared["m"] + a - s.server) / 2
        v = second(s.shared["v"], m, c)
        return State(s.server + step(m, v, c, s), shared={"m": m, "v": v})

    return written(update, lambda w, repeat: {"shared": {"m": 0 * w, "v": 0 * w + 1}})


ADAPTIVE = {
    "adam": adaptive(lambda m, v, c, s: m / (c.square_root(v) + 1), lambda v, m, c: v / 2 + m * m),
    "sum of squares": adaptive(lambda m, v, c, s: 3 * m / (4 * (c.square_root(v + m * m) + 2)), lambda v, m, c: v),
    "signs": adaptive(lambda m, v, c, s: -m / (1 + c.square_root(v)), lambda v, m, c: v - m * c.sign(v - m)),
    "twice": adaptive(
        lambda m, v, c, s: (m / (c.square_root(v) + 1)) / (c.square_root(v) + 2), lambda v, m, c: v + m * m
    ),
}
NOT_READ = {  # each is not known to rest where its step, or its step alone, is 0
    "may divide by 0": adaptive(lambda m, v, c, s: m / c.square_root(v), lambda v, m, c: v + m * m),
    "may divide by less": adaptive(lambda m, v, c, s: m / (c.square_root(v) - 1), lambda v, m, c: v + m * m),
    "no root": adaptive(lambda m, v, c, s: m / (v + 1), lambda v, m, c: v + m * m),
    "adds the moment": adaptive(lambda m, v, c, s: m / (c.square_root(v) + 1) + v, lambda v, m, c: v / 2 + m * m),
    "cancels": adaptive(
        lambda m, v, c, s: m / (c.square_root(v) + 1) - m / (c.square_root(v + m * m) + 1), lambda v, m, c: v + m * m
    ),
    "a step beside": adaptive(lambda m, v, c, s: m / (c.square_root(v) + 1) + s.server / 9, lambda v, m, c: v + m * m),
    "scales the point": adaptive(lambda m, v, c, s: (s.server + m) / (c.square_root(v) + 1), lambda v, m, c: v + m * m),
    "each client's": written(
        lambda s, c, a, p: s.server + c.average((p - s.server) / (c.square_root((p - s.server) * (p - s.server)) + 1))
    ),
    "a sign": adaptive(lambda m, v, c, s: c.sign(m) / 9, lambda v, m, c: v),
}


@pytest.mark.parametrize("problem", [PLAIN, WEIGHTED, LOGISTIC], ids=["plain", "weighted", "logistic"])
@pytest.mark.parametrize("name", ADAPTIVE)
def test_steps_over_positive_numbers_rest_where_the_steps_do(name: str, problem: Any) -> None:
    stop = fc.fixed_point(ADAPTIVE[name], problem)
    plain = fc.fixed_point(fc.FedGD(stepsize=S, local_steps=2), problem)
    assert stop.point.tolist() == pytest.approx(plain.point.tolist(), rel=1e-9)
    assert (stop.unique, stop.attracting) == (True, None)
    if problem is not LOGISTIC:
        assert fc.fixed_point(ADAPTIVE[name], problem, "exact").unique
    if name != "signs":
        run = fc.simulate(ADAPTIVE[name], problem, 1500, x0=[3, -2], progress=False)
        assert abs(run.points[-1] - stop.point).max() < 1e-3
    with pytest.raises(fc.InvalidInput, match="not affine in its state"):
        lyapunov(ADAPTIVE[name], SmoothStronglyConvex(mu=1, L=4))


@pytest.mark.parametrize(
    ("share", "exact"),
    [(np.float32(0.5), F(1, 2)), (F(1, 10**400), F(1, 10**400)), (-F(10**400), -F(10**400)), (5e-324, F(5e-324))],
    ids=["float32", "tiny", "huge", "subnormal"],
)
def test_real_numbers_of_any_type_and_size_may_stand_in_plain_fields(share: Any, exact: F) -> None:
    found = in_rationals(OfAPlainFloat(share=share)).share
    assert found == fmpq(exact.numerator, exact.denominator)


@pytest.mark.parametrize("share", [float("inf"), float("-inf"), float("nan"), "1/2", None, True, 2, 1j])
def test_what_is_no_real_number_stays_as_it_is(share: Any) -> None:
    assert in_rationals(OfAPlainFloat(share=share)).share is share


@pytest.mark.parametrize("problem", [PLAIN, LOGISTIC], ids=["plain", "logistic"])
@pytest.mark.parametrize("name", NOT_READ)
def test_other_divisions_are_refused(name: str, problem: Any) -> None:
    for arithmetic in ("float", "ball"):
        with pytest.raises(fc.InvalidInput, match="not affine in its state"):
            fc.fixed_point(NOT_READ[name], problem, arithmetic)


def test_adaptive_steps_rest_where_their_own_code_does() -> None:
    adam = fc.FedAdam(stepsize=S, server_stepsize=1, beta1=0, beta2=F(1, 2), tau=1, local_steps=2)
    stop = fc.fixed_point(adam, PLAIN, "exact")
    assert stop.point.tolist() == fc.fixed_point(fc.FedGD(stepsize=S, local_steps=2), PLAIN, "exact").point.tolist()
    assert (stop.unique, stop.attracting) == (True, None)
    moves = changed(adam, update=lambda self, s, c, a: State(c.square_root(c.average(a.points)), s.shared))
    with pytest.raises(fc.InvalidInput, match="takes square roots"):
        fc.fixed_point(moves, PLAIN, "ball")


@pytest.mark.beyond_core  # takes seconds
@pytest.mark.parametrize("name", [*AFFINE, *PACKAGE])
def test_on_logistic_losses_no_more_is_claimed_than_runs_show(name: str) -> None:
    method = (AFFINE | PACKAGE)[name]
    try:
        stop = fc.fixed_point(method, LOGISTIC)
    except NotConverged:
        return
    state = stop.analysis.state
    after = rounds_of(method, LOGISTIC).advance(state)
    assert abs(after.server - stop.point).max() < 1e-5 * (1 + abs(stop.point).max())
    runs = [fc.simulate(method, LOGISTIC, 300, x0=x, progress=False).points[-1] for x in ([0, 0], [7, 7], [-30, 5])]
    away = [abs(end - stop.point).max() for end in runs]
    if stop.attracting:
        assert max(away) < 1e-2
    if stop.attracting is False:
        assert max(away) > 0.1
    if stop.unique and max(away) > 1e-2:
        assert not stop.attracting
    balls = fc.fixed_point(method, LOGISTIC, "ball").point
    assert all(float(b.lower()) - 1e-5 <= x <= float(b.upper()) + 1e-5 for b, x in zip(balls, stop.point, strict=True))


def test_rounds_that_are_local_at_random() -> None:
    """A state has to be kept by both kinds of rounds: gradient descent's minimiser by Scaffnew's, none by L2GD's."""
    stop = fc.fixed_point(fc.Scaffnew(stepsize=S, probability=F(1, 3)), WEIGHTED, "exact")
    assert (stop.bias_is_zero, stop.unique, stop.attracting) == (True, True, None)
    with pytest.raises(NoFixedPoint, match="keep no common state"):
        fc.fixed_point(L2GD(), PLAIN)
    with pytest.raises(fc.InvalidInput, match="simulate"):
        fc.fixed_point(L2GD(), LOGISTIC)
    with pytest.raises(fc.InvalidInput, match=r"keep no common state.*fedconvex\.simulate"):
        lyapunov(L2GD(), SmoothStronglyConvex(mu=1, L=4))
    shared = fc.Quadratic([[[1]], [[3]]], [[2], [6]])  # both clients' minimiser is 2
    assert fc.fixed_point(L2GD(), shared, "exact").point.tolist() == [2]


FOLDER = Path(fc.__file__).parent
WITHOUT_NAMES = [
    *sorted((FOLDER / "fixed_points").glob("*.py")),
    *(FOLDER / f"audit/{n}.py" for n in ("stuck_runs", "twins", "measure", "report")),
]


@pytest.mark.parametrize("path", WITHOUT_NAMES, ids=lambda path: path.stem)
def test_no_method_is_treated_by_its_name(path: Path) -> None:
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        named = {n.id for n in ast.walk(node) if isinstance(n, ast.Name)} if isinstance(node, ast.Call) else set()
        assert not named & METHODS.keys()
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("fedconvex.methods"):
            assert {name.name for name in node.names} <= {"Averaging", "Cohort", "Method", "State"}


ABOVE = sorted(
    path for name in ("fixed_points", "audit", "claims", "statements") for path in (FOLDER / name).rglob("*.py")
)
DESIGNS = (
    FOLDER / "audit/designs/parameters.py"
)  # the methods whose parameters `recommend` chooses: each by its formulas
# `recommend` chooses among the five methods that are designed, by their names where a framework has only some.
DESIGNERS = DESIGNS, DESIGNS.parents[1] / "recommendation.py"


def methods_told_apart(tree: ast.AST) -> set[str]:
    """The methods by whose class or name code decides: in comparisons, `isinstance`, tables and lists of names."""
    found: set[str] = set()
    for node in ast.walk(tree):
        of_class = isinstance(node, ast.Call) and ast.unparse(node.func) in ("isinstance", "issubclass")
        if of_class or isinstance(node, ast.Compare):
            parts = list(ast.walk(node))
        elif isinstance(node, ast.Tuple | ast.List | ast.Set | ast.Dict):
            parts = [part for part in (node.keys if isinstance(node, ast.Dict) else node.elts) if part]
        else:
            continue
        found |= {part.id for part in parts if isinstance(part, ast.Name)}
        found |= {part.value for part in parts if isinstance(part, ast.Constant) and isinstance(part.value, str)}
    return found & METHODS.keys()


@pytest.mark.parametrize("path", [path for path in ABOVE if path not in DESIGNERS], ids=lambda path: path.stem)
def test_no_list_of_names_and_no_branch_on_a_class(path: Path) -> None:
    assert not methods_told_apart(ast.parse(path.read_text("utf-8")))


@pytest.mark.parametrize(
    "line",
    ['KNOWN = ("FedGD", "other")', "isinstance(method, Exact | FedProx)", "type(method) is FedGD", 'name == "FedDyn"',
     "{FedGD: 1}"],
)  # fmt: skip
def test_such_lists_and_branches_are_noticed(line: str) -> None:
    assert methods_told_apart(ast.parse(line))
    assert methods_told_apart(ast.parse(DESIGNS.read_text("utf-8")))
