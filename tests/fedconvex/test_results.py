"""Every public result shows itself: on a screen, in a notebook without a hole, as a table and as a picture."""

import inspect
from fractions import Fraction
from html.parser import HTMLParser
from typing import Any

import numpy as np
import pandas
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from rich.cells import cell_len
from text_in_pictures import cut_texts, overlapping_texts

import fedconvex as fc
from fedconvex import conformance, deep, proofs_checks
from fedconvex.audit import audit
from fedconvex.audit.measure import Audit
from fedconvex.audit.report import to_dictionary
from fedconvex.conformance import check
from fedconvex.conformance.report import Report
from fedconvex.deep import models
from fedconvex.drawing import new_axes
from fedconvex.proofs_checks import (
    Design,
    SmoothConvex,
    SmoothStronglyConvex,
    WeaklyConvex,
    WorstCase,
    design,
    error_floor,
    looseness,
    lyapunov,
    sublinear_rate,
    verify,
    worst_case,
)
from fedconvex.safe_text import printable
from fedconvex.shown import COLUMNS, LINES, ShownResult, Summary, on_screen, some_of
from fedconvex.theory import bounds_for, papers, statement
from fedconvex.theory.bounds import Bounds

pytestmark = pytest.mark.beyond_core  # draws

HOSTILE = "<script>alert(1)</script>\n\x1b[31m$x_1$ \u202e& \"'"
PAIR = fc.LeastSquares(A=[[[1, 2], [0, 1]], [[3, 0], [1, 1]]], b=[[1, 2], [0, 4]])
RNG = np.random.default_rng(0)
WIDE = fc.LeastSquares(A=[RNG.normal(size=(60, 80)) for _ in range(3)], b=[RNG.normal(size=60) for _ in range(3)])
FALLING = fc.Quadratic(H=[[[1, 0], [0, 0]], [[1, 0], [0, 1]]], c=[[0, 1], [0, 1]])  # every client has a fixed point
LOGISTIC = fc.Logistic(A=[[[1.0, 2.0], [3.0, 5.0]], [[1.0, 0.5]]], y=[[1, -1], [1]], ridge=0.1)
MANY = fc.Quadratic([np.eye(8) * (k + 1) for k in range(300)], [np.arange(8.0) * k * 1e140 for k in range(300)])
DIVERGING = fc.FedGD(stepsize=1)


def wrong_fedsgd() -> Report:
    return check(
        fc.FedSGD(stepsize=0.1),
        init=lambda problem, x0: x0,
        round=lambda problem, w, active: w,
        server_model=lambda w: w,
    )


def deep_run() -> Any:
    import torch

    clients = [(torch.arange(12.0).reshape(4, 3), torch.tensor([0, 1, 0, 1])), (torch.ones(2, 3), torch.tensor([1, 0]))]
    model = models.logistic_regression(3, 2)
    return deep.run(fc.FedAvg(epochs=1, batch_size=2, stepsize=0.01), model, clients, rounds=30)


def hostile_audit() -> Audit:
    names = (HOSTILE, HOSTILE)
    return audit(PAIR, ["fedgd", "fedprox:mu=1", "fedavg:epochs=2"], rounds=5, source=HOSTILE, coefficient_names=names)


MAKERS: dict[str, Any] = {
    "run": lambda: fc.simulate(fc.FedProx(mu=1), PAIR, 300),
    "diverging run": lambda: fc.simulate(DIVERGING, PAIR, 60),
    "run beyond floats": lambda: fc.simulate(fc.FedGD(stepsize=1e100), PAIR, 20),
    "exact run": lambda: fc.simulate(fc.FedProx(mu=1), PAIR, 30, arithmetic="exact"),
    "ball run": lambda: fc.simulate(fc.FedProx(mu=1), PAIR, 3, arithmetic="ball"),
    "run of no round": lambda: fc.simulate(fc.FedProx(mu=1), PAIR, 0),
    "run without minimiser": lambda: fc.simulate(fc.FedProx(mu=1), fc.Quadratic([[[0]]], [[1]]), 20),
    "run with a long name": lambda: fc.simulate(fc.FedProx(mu=Fraction(1, 10**5000)), PAIR, 1),
    "audit": hostile_audit,
    "audit of random rounds": lambda: audit(PAIR, [fc.FedAvg(stepsize=0.01, batch_size=1)] * 14, rounds=2),
    "fixed point": lambda: fc.fixed_point(fc.FedProx(mu=1), PAIR),
    "exact fixed point": lambda: fc.fixed_point(fc.FedProx(mu=1), PAIR, arithmetic="exact"),
    "enclosed fixed point": lambda: fc.fixed_point(fc.FedSplit(stepsize=1), LOGISTIC, arithmetic="ball"),
    "wide fixed point": lambda: fc.fixed_point(fc.FedProx(mu=1), WIDE),
    "ground truth": lambda: fc.ground_truth(PAIR),
    "wide ground truth": lambda: fc.ground_truth(WIDE),
    "bounds": lambda: bounds_for(fc.FedSplit(stepsize=Fraction(1, 4)), PAIR, rounds=5),
    "worst case": lambda: worst_case(fc.FedProx(mu=2), SmoothStronglyConvex(mu=1, L=4), metric="descent"),
    "exact worst case": lambda: worst_case(
        fc.FedSplit(stepsize=Fraction(1, 2)), SmoothStronglyConvex(mu=1, L=4), "any", metric="lifted_distance"
    ),
    "recommendation": lambda: fc.recommend(PAIR),
    "diagnosis": lambda: fc.diagnose(fc.simulate(fc.FedProx(mu=1), PAIR, 300)),
    "diagnosis of a diverging run": lambda: fc.diagnose(fc.simulate(DIVERGING, PAIR, 60)),
    "run of many clients with huge numbers": lambda: fc.simulate(fc.FedProx(mu=Fraction(1, 10**60)), MANY, 30),
    "fixed point of many clients": lambda: fc.fixed_point(fc.FedGD(stepsize=1e-3, local_steps=2), MANY),
    "ground truth of many clients": lambda: fc.ground_truth(MANY),
    "recommendation for many clients": lambda: fc.recommend(MANY, check=False, among=["fedgd", "fedprox"]),
    "design": lambda: design(fc.FedSGD, SmoothStronglyConvex(mu=Fraction(10**60 + 1, 10**60), L=4)),
    "report": wrong_fedsgd,
    "deep run": deep_run,
}  # fmt: skip
MADE: dict[str, Any] = {}


def made(name: str) -> Any:
    """The result, made once."""
    if name not in MADE:
        with np.errstate(all="ignore"):
            MADE[name] = MAKERS[name]()
    return MADE[name]


class Tags(HTMLParser):
    """The tags that a text opens and leaves open."""

    def __init__(self) -> None:
        super().__init__()
        self.seen: set[str] = set()
        self.open: list[str] = []

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        self.seen.add(tag)
        self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def assert_fits(text: str) -> None:
    lines = text.splitlines()
    assert len(lines) <= LINES == 25
    assert max(map(cell_len, lines), default=0) <= COLUMNS == 100
    assert printable(text) == text


def assert_harmless(html: str) -> None:
    tags = Tags()
    tags.feed(html)
    tags.close()
    assert tags.open == []
    assert tags.seen <= {"div", "p", "b", "table", "thead", "tbody", "tr", "th", "td"}


@pytest.mark.sample(10)
@pytest.mark.parametrize("name", MAKERS)
def test_results_fit_on_a_screen_and_into_a_notebook(name: str) -> None:
    result = made(name)
    assert isinstance(result, ShownResult)
    assert_fits(str(result))
    assert "\n" not in repr(result)
    assert len(repr(result)) < 200
    assert_harmless(result._repr_html_())
    frame = result.to_frame()
    assert isinstance(frame, pandas.DataFrame)
    assert len(frame) > 0


HUGE = Fraction(10**60 + 1, 10**60)
SHORT_RESULTS: dict[str, Any] = {
    "statement": lambda: [s for paper in papers().values() for s in paper.everything],
    "verified statement": lambda: [verify(s) for s in ("fedprox.corollary9", "fedsplit.equation17", "feddyn.lemma1")],
    "rate": lambda: [
        lyapunov(fc.Scaffold(stepsize=Fraction(1, 50), local_steps=2), SmoothStronglyConvex(mu=1, L=4)),
        lyapunov(fc.FedSplit(stepsize=HUGE / 2), SmoothStronglyConvex(mu=HUGE, L=4 * HUGE), 2),
        lyapunov(fc.FedGD(stepsize=HUGE * 10**40), SmoothStronglyConvex(mu=1, L=4)),
    ],
    "error floor": lambda: [
        error_floor(fc.Scaffold(stepsize=Fraction(1, 8), local_steps=3), SmoothStronglyConvex(mu=1, L=4), 10),
        error_floor(fc.FedProx(mu=HUGE), SmoothStronglyConvex(mu=1, L=4 * HUGE), cause="heterogeneity"),
    ],
    "sublinear rate": lambda: [
        sublinear_rate(fc.Scaffold(stepsize=HUGE / 2, local_steps=3), SmoothConvex(L=1)),
        sublinear_rate(fc.Scaffold(stepsize=HUGE / 2, local_steps=3), SmoothConvex(L=1), points="last"),
        sublinear_rate(fc.Scaffold(stepsize=HUGE / 9, local_steps=3), WeaklyConvex(L_minus=HUGE / 2, L=1)),
        sublinear_rate(fc.FedProx(mu=3), WeaklyConvex(L_minus=1, L=1)),
    ],
    "certificate": lambda: [lyapunov(fc.FedSplit(stepsize=HUGE / 2), SmoothStronglyConvex(mu=1, L=4)).certificate],
    "looseness": lambda: [looseness("fedprox.theorem4", mu=20, L=HUGE, L_minus=0, B=1, gamma=0, K=20)],
    "claims and settings": lambda: [
        shown for paper in papers().values() for s in paper.everything if s.claim for shown in (s.claim, s.setting)
    ],
    "theorem": lambda: [verify("fedprox.theorem4").theorem],
    "schedule": lambda: [fc.participation.Schedule([[0, 1]] * 1000)],
    "claim on a run": lambda: [statement("feddyn.lemma1").claim.on(fc.simulate(fc.FedDyn(alpha=1), PAIR, 2))],
}  # fmt: skip


@pytest.mark.parametrize("name", SHORT_RESULTS)
def test_results_without_a_picture_fit_on_a_screen(name: str) -> None:
    for result in SHORT_RESULTS[name]():
        assert str(result)
        assert_fits(str(result))


def test_a_long_text_wraps_and_says_what_is_left_out() -> None:
    assert on_screen("a  b") == "a  b"  # blanks of short lines are kept
    assert on_screen("word " * 30).splitlines()[1].startswith("  word")
    assert on_screen("x\n" * 26, "all of it: here").splitlines()[-1] == "… 2 more lines: all of it: here"
    assert len(on_screen("x\n" * 25).splitlines()) == 25
    for hard in ("x" * 5000, "統" * 3000, " " * 300 + "x", ("y" * 99 + " ") * 40):
        assert_fits(on_screen(hard))


@pytest.mark.sample(3)
@pytest.mark.parametrize("name", MAKERS)
def test_pictures_have_no_text_cut_or_overlapping(name: str) -> None:
    result = made(name)
    axes = result.plot()
    assert isinstance(axes, Axes)
    assert isinstance(axes.figure, Figure)
    assert axes.get_xlabel()
    assert axes.get_ylabel()
    assert cut_texts(axes.figure) == []
    assert overlapping_texts(axes.figure) == []
    own = new_axes()
    assert result.plot(own) is own


def test_the_check_of_pictures_sees_texts_that_are_cut_or_overlap() -> None:
    axes = new_axes()
    axes.text(0.95, 0.5, "beyond the right edge of the picture" * 3).set_in_layout(False)
    axes.text(0.1, 0.1, "one")
    axes.text(0.1, 0.1, "other")
    assert len(cut_texts(axes.figure)) == 1
    assert ("other", "one") in overlapping_texts(axes.figure)


def test_every_result_is_tried() -> None:
    """The classes that show themselves, and no other, have a maker here."""
    kinds = {type(made(name)) for name in MAKERS}
    others = {Bounds, WorstCase, Report, deep.DeepRun, fc.Recommendation, fc.RunDiagnosis}
    assert kinds == {fc.Trajectory, Audit, fc.FixedPoint, fc.GroundTruth, Design, *others}
    public = {
        value
        for module in (fc, proofs_checks, conformance, deep)
        for name in dir(module)
        if inspect.isclass(value := getattr(module, name)) and issubclass(value, ShownResult)
    }
    assert public <= kinds


@settings(max_examples=40)
@given(
    st.text(), st.lists(st.tuples(st.text(), st.text()), max_size=9), st.lists(st.text(), min_size=1, max_size=9),
    st.lists(st.lists(st.text(max_size=150), min_size=9, max_size=9), max_size=60), st.lists(st.text(), max_size=40),
)  # fmt: skip
def test_any_text_fits(title: str, facts: Any, headings: list[str], rows: Any, notes: list[str]) -> None:
    cells = tuple(tuple(row[: len(headings)]) for row in rows)
    shown = Summary(title, tuple(facts), tuple(headings), cells, tuple(notes))
    assert_fits(shown.text())
    assert_harmless(shown.html())


def test_letters_of_no_width_do_not_make_room_for_wide_ones() -> None:
    """A note of as many columns as letters, of which the wide ones are in the first line."""
    note = f"{'⺀' * 60} {'a' * 20} {chr(0x301) * 60}"
    assert cell_len(note) == len(note)
    assert_fits(Summary("title", notes=(note,)).text())
    assert_fits(on_screen(note))


# of one column, of two, of none, of which some join others or change their width, and such as break a line
LETTERS = ["a", "1", "#", " ", "-", "\\", "é", "❤", "⺀", "界", "ᄀ", "﷽", "👩", "🇩", "🇪", "🏽",
           *map(chr, (0x301, 0x200D, 0xFE0F, 0x200B, 0x1160, 0x20E3, 0xAD))]  # fmt: skip


@given(st.text(st.sampled_from(LETTERS), min_size=40, max_size=260))
def test_letters_of_any_width_fit(text: str) -> None:
    assert max(map(cell_len, on_screen(text).splitlines()), default=0) <= COLUMNS
    assert_fits(Summary(text, (("fact", text),), ("heading", text), ((text, text),), (text,)).text())


@given(st.integers(1, 10**6), st.integers(4, 20))
def test_some_rounds_are_the_first_and_the_last_among_others(count: int, most: int) -> None:
    places = some_of(count, most)
    assert places == sorted(set(places))
    assert (places[0], places[-1]) == (0, count - 1)
    assert len(places) <= most


def test_numbers_are_never_shortened() -> None:
    rows = tuple((f"{'long words ' * 20}{i}", f"{10**8 + i}.5", "other words " * 9) for i in range(9))
    text = Summary("table", headings=("words", "number", "more"), rows=rows).text()
    assert all(f"{10**8 + i}.5" in text for i in range(9))
    assert "…" in text


def test_a_long_table_shows_its_first_and_last_rows_and_counts_the_others() -> None:
    text = Summary("table", headings=("i",), rows=tuple((str(i),) for i in range(1000))).text()
    numbers = [line.strip() for line in text.splitlines()[2:]]
    (between,) = (n for n in numbers if n.startswith("…"))
    assert numbers[0] == "0"
    assert numbers[-1] == "999"
    assert between == f"… {1000 - len(numbers) + 1} more"


def test_a_diverging_run_says_so_and_others_do_not() -> None:
    assert "diverges" in str(made("diverging run"))
    assert "diverges" in made("diverging run").plot().get_title()
    assert "not finite" in str(made("run beyond floats"))
    falling = fc.simulate(fc.FedGD(stepsize=0.1), fc.Quadratic([[[-1]]], [[1]]), 200)
    assert "may diverge: " in str(falling)
    assert "no minimiser" in str(falling)
    minimiser = fc.ground_truth(PAIR).point
    drawn = fc.participation.Uniform(1)
    for run in (
        made("run"),
        made("exact run"),
        fc.simulate(fc.FedProx(mu=1), PAIR, 100, x0=minimiser),  # the objective rises to the error floor
        fc.simulate(fc.FedSplit(stepsize=1), PAIR, 100, x0=minimiser),
        fc.simulate(fc.FedGD(stepsize=0.05, local_steps=5), PAIR, 200, drawn, x0=minimiser),  # and does not settle
    ):
        assert "diverge" not in str(run)


@settings(max_examples=10)
@given(st.floats(1.05, 3), st.integers(30, 80))
def test_gradient_descent_diverges_beyond_its_largest_stepsize_and_says_so(excess: float, rounds: int) -> None:
    run = fc.simulate(fc.FedGD(stepsize=2 * excess), fc.Quadratic([[[1]]], [[0]]), rounds, x0=[1.0])
    assert "diverge" in str(run)
    settled = fc.simulate(fc.FedGD(stepsize=2 / excess), fc.Quadratic([[[1]]], [[0]]), rounds, x0=[1.0])
    assert "diverge" not in str(settled)


def test_the_numbers_shown_are_those_of_the_table() -> None:
    run = fc.simulate(fc.FedProx(mu=1), fc.LeastSquares(A=PAIR.A, b=PAIR.b), 50)
    assert "gap" not in str(run)  # printing solves nothing
    frame = run.to_frame()
    assert f"{frame['gap'].iloc[-1]:.6g}" in str(run)
    assert f"{frame['value'].iloc[0]:.6g}" in str(run)
    stop = made("fixed point")
    assert np.allclose(stop.to_frame()["bias"], stop.point - fc.ground_truth(PAIR).point)
    assert f"{stop.bias_norm:.6g}" in str(stop)
    found = made("exact worst case")
    assert found.to_frame()["value"].tolist() == [Fraction(1, 9), Fraction(1, 9)]
    assert "1/9" in str(found)
    assert made("worst case").to_frame()["known"].tolist() == ["proved", "attained"]


def test_a_point_without_minimiser_is_shown_all_the_same() -> None:
    flat = fc.Quadratic(H=[[[0]], [[1]]], c=[[1], [1]])
    stop = fc.fixed_point(fc.FedProx(mu=1), flat)
    assert_fits(str(stop))
    saddle = fc.Quadratic(H=[[[-1]], [[0.5]]], c=[[1], [0]])
    stop = fc.fixed_point(fc.FedProx(mu=3), saddle)
    assert "none: " in str(stop)
    assert np.isnan(stop.to_frame()["bias"]).all()
    assert cut_texts(stop.plot().figure) == []


def test_audit_json_names_its_coefficients_and_the_version() -> None:
    data = fc.data.FederatedData(
        features=(np.array([[1.0, 0], [0, 1], [2, 3]]), np.array([[3.0, 1], [0, 2]])),
        targets=(np.array([5.0, 8, 27.5]), np.array([18.0, 13])),  # 2·dose + 5·age + 3, nearly
        client_names=("a", "b"), feature_names=("dose", "age"), source="made",
    )  # fmt: skip
    problem = data.problem("least-squares")
    found = audit(problem, ["fedgd"], rounds=2, coefficient_names=data.coefficient_names(problem))
    written = to_dictionary(found)
    assert written["fedconvex"] == fc.__version__
    named = written["minimizer"]["coefficients"]
    # by another route: NumPy's least squares on columns in this order
    A = np.column_stack([np.vstack(data.features), np.ones(5)])
    expected = np.linalg.lstsq(A, np.concatenate(data.targets), rcond=None)[0]
    assert list(named) == ["dose", "age", "intercept"]
    assert np.allclose([*named.values()], expected)
    without = data.problem("least-squares", intercept=False)
    assert data.coefficient_names(without) == ("dose", "age")
    with pytest.raises(fc.InvalidInput, match="are not the names of 3 unknowns"):
        audit(problem, coefficient_names=("dose",))


def test_coefficients_of_a_multinomial_model_have_their_class() -> None:
    data = fc.data.FederatedData(
        features=(np.eye(3)[:, :2], np.ones((3, 2))), targets=(np.array(["x", "y", "z"]), np.array(["z", "y", "x"])),
        client_names=("a", "b"), feature_names=("f", "g"), source="made",
    )  # fmt: skip
    problem = data.problem()
    names = data.coefficient_names(problem)
    assert len(names) == problem.dim
    assert names[:4] == ("x: f", "x: g", "x: intercept", "y: f")


def test_repeated_names_stay_apart() -> None:
    assert len(to_dictionary(made("audit"))["minimizer"]["coefficients"]) == 2
