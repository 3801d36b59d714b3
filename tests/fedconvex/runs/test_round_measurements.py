"""Every column of a run's frame against formulas written out here; measuring changes no run."""

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from problem_makers import few, fractions
from run_makers import EQUAL, QUARTER, SILENT, START, UNEQUAL, bits, instance

import fedconvex as fc
from fedconvex import participation as who
from fedconvex.errors import InvalidInput
from fedconvex.measurements import POINT_COLUMNS
from fedconvex.methods import METHODS

generator = np.random.default_rng(20240229)
COUNTS, D = (5, 3, 7, 4), 3
DESIGNS = [generator.standard_normal((n, D)) for n in COUNTS]
TARGETS = [generator.standard_normal(n) for n in COUNTS]
SIGNS = [np.where(target > 0, 1.0, -1.0) for target in TARGETS]
WEIGHTS, RIDGE = np.array([0.125, 0.375, 0.25, 0.25]), 0.3
LEAST = fc.LeastSquares(DESIGNS, TARGETS, WEIGHTS)
LOGISTIC = fc.Logistic(DESIGNS, SIGNS, RIDGE, WEIGHTS)
ROUND_COLUMNS = ["inexactness", "drift", "control_error"]
DROP = who.Stragglers(Fraction(1, 2), "drop")


def least_value(k: int, x: np.ndarray) -> float:
    return float(np.sum((DESIGNS[k] @ x - TARGETS[k]) ** 2) / 2)


def least_gradient(k: int, x: np.ndarray) -> np.ndarray:
    return DESIGNS[k].T @ (DESIGNS[k] @ x - TARGETS[k])


def logistic_value(k: int, x: np.ndarray) -> float:
    return float(np.mean(np.log(1 + np.exp(-SIGNS[k] * (DESIGNS[k] @ x)))) + RIDGE / 2 * x @ x)


def logistic_gradient(k: int, x: np.ndarray) -> np.ndarray:
    slopes = -SIGNS[k] / (1 + np.exp(SIGNS[k] * (DESIGNS[k] @ x)))
    return DESIGNS[k].T @ slopes / COUNTS[k] + RIDGE * x


def logistic_minimizer() -> np.ndarray:
    """Many steps of gradient descent: slow, and nothing to go wrong."""
    x = np.zeros(D)
    for _ in range(3000):
        x = x - 0.5 * sum(WEIGHTS[k] * logistic_gradient(k, x) for k in range(4))
    return x


def least_minimizer() -> np.ndarray:
    rows = [np.sqrt(w) * A for w, A in zip(WEIGHTS, DESIGNS, strict=True)]
    right = [np.sqrt(w) * b for w, b in zip(WEIGHTS, TARGETS, strict=True)]
    return np.asarray(np.linalg.lstsq(np.vstack(rows), np.concatenate(right), rcond=None)[0])


KINDS: dict[str, tuple[Any, Callable, Callable, np.ndarray]] = {
    "least squares": (LEAST, least_value, least_gradient, least_minimizer()),
    "logistic": (LOGISTIC, logistic_value, logistic_gradient, logistic_minimizer()),
}


def point_columns(kind: str, x: np.ndarray, weights: np.ndarray = WEIGHTS) -> dict[str, float]:
    """The definitions, client by client."""
    _, value, gradient, minimizer = KINDS[kind]
    f = sum(weights[k] * value(k, x) for k in range(4))
    gradients = [gradient(k, x) for k in range(4)]
    mean = sum(weights[k] * gradients[k] for k in range(4))
    squares = sum(weights[k] * gradients[k] @ gradients[k] for k in range(4))
    return {
        "value": f,
        "gap": f - sum(weights[k] * value(k, minimizer) for k in range(4)),
        "distance": float(np.sqrt(np.sum((x - minimizer) ** 2))),
        "gradient_norm": float(np.sqrt(np.sum(mean**2))),
        "dissimilarity": float(np.sqrt(squares / (mean @ mean))),
        "gradient_variance": sum(weights[k] * np.sum((gradients[k] - mean) ** 2) for k in range(4)),
    }


class TestAtPoints:
    @pytest.mark.parametrize(
        ("kind", "arithmetic"),
        [("least squares", "float"), ("least squares", "exact"), ("least squares", "torch"), ("least squares", "ball"),
         ("logistic", "float"), ("logistic", "torch"), ("logistic", "ball")],
    )  # fmt: skip
    def test_every_column(self, kind, arithmetic) -> None:
        problem = KINDS[kind][0]
        found = fc.simulate(
            fc.FedGD(stepsize=0.05, local_steps=2), problem, 4, who.Schedule([[0, 2], [], [1], [0, 1, 2, 3]]),
            x0=np.array([1.0, -2.0, 0.5]), arithmetic=arithmetic,
        )  # fmt: skip
        frame = found.to_frame()
        points = [[float(v.mid()) if arithmetic == "ball" else float(v) for v in x] for x in found.points]
        for t, x in enumerate(np.array(points)):
            expected = point_columns(kind, x)
            assert {name: frame[name][t] for name in POINT_COLUMNS} == pytest.approx(expected, rel=1e-8)
            wrong = point_columns(kind, x, np.full(4, 0.25))
            for name in POINT_COLUMNS:  # other weights would be seen
                assert name == "distance" or frame[name][t] != pytest.approx(wrong[name], rel=1e-3)
        assert frame["round"].tolist() == [0, 1, 2, 3, 4]
        assert (frame.dtypes[list(POINT_COLUMNS)] == np.float64).all()

    @pytest.mark.parametrize("size", [1.0, 1e-3, 1e-8, 1e-13])
    def test_gaps_keep_their_digits(self, size) -> None:
        """Against ½(x − x*)ᵀH(x − x*) in rationals; f(x) − f(x*) in floats loses them."""
        H = sum((w * fractions(A).T @ fractions(A) for w, A in zip(UNEQUAL.exact_weights, UNEQUAL.A, strict=True)))
        exact = self.solve(H)
        x0 = exact.astype(float) + size * np.array([1.0, -0.5])
        step = fractions(x0) - exact
        gap = float(step @ H @ step / 2)
        frame = fc.simulate(fc.FedGD(stepsize=0.1), UNEQUAL, 0, x0=x0).to_frame()
        assert frame["gap"][0] == pytest.approx(gap, rel=1e-12 + 1e-15 / size, abs=0)
        if size < 1e-6:
            subtracted = UNEQUAL.value(x0) - UNEQUAL.value(exact.astype(float))
            assert subtracted != pytest.approx(gap, rel=1e-3, abs=0)

    def solve(self, H: np.ndarray) -> np.ndarray:
        right = sum(
            w * fractions(A).T @ fractions(b)
            for w, A, b in zip(UNEQUAL.exact_weights, UNEQUAL.A, UNEQUAL.b, strict=True)
        )
        determinant = H[0, 0] * H[1, 1] - H[0, 1] * H[1, 0]
        return np.array(
            [H[1, 1] * right[0] - H[0, 1] * right[1], H[0, 0] * right[1] - H[1, 0] * right[0]]
        ) / determinant  # fmt: skip

    def test_without_a_minimiser(self) -> None:
        falling = fc.Quadratic(H=[[[1, 0], [0, 0]], [[1, 0], [0, 0]]], c=[[0, 1], [0, 0]])
        frame = fc.simulate(fc.FedGD(stepsize=0.1), falling, 2, x0=[1, 1]).to_frame()
        assert frame[["gap", "distance"]].isna().all(axis=None)
        assert frame["value"][0] == pytest.approx(0)  # ½ − ½
        assert frame["value"].is_monotonic_decreasing
        assert frame["gradient_norm"][0] == pytest.approx(np.sqrt(1.25))

    def test_choosing_columns(self) -> None:
        found = fc.simulate(fc.FedGD(stepsize=0.1), LEAST, 2)
        whole = found.to_frame()
        for columns in (["gap"], ["distance", "value"], [], ["dissimilarity"], POINT_COLUMNS[::-1]):
            frame = found.to_frame(columns)
            assert list(frame) == ["round", *columns, "participants", "bytes_down", "bytes_up"]
            for name in frame:
                assert frame[name].tolist() == pytest.approx(whole[name].tolist(), nan_ok=True)
        with pytest.raises(InvalidInput, match=r"^columns = loss: is unknown; choose from value, gap, "):
            found.to_frame(["gap", "loss"])


class TestCounts:
    """Eight bytes a number, d numbers a vector."""

    @staticmethod
    def counts(found: Any) -> list[tuple[float, float, float]]:
        return list(
            zip(*(found.recorded[name].tolist() for name in ("participants", "bytes_down", "bytes_up")), strict=True)
        )

    def expected(self, name: str, asked: int, answered: int, gradients: int) -> tuple[float, float, float]:
        down = 2 if name in ("Scaffold", "FedDANE") else 1  # w with c, and w with g
        up = 2 if name == "Scaffold" else 1
        return answered, 8 * D * (down * asked + gradients), 8 * D * (up * answered + gradients)

    @pytest.mark.parametrize("name", METHODS)
    @pytest.mark.parametrize("arithmetic", ["float", "exact", "torch"])
    def test_everyone(self, name, arithmetic) -> None:
        found = fc.simulate(instance(name, Fraction(1, 16)), LEAST, 2, arithmetic=arithmetic)
        gradients = 4 if name in ("DANE", "FedDANE") else 0
        assert self.counts(found) == [self.expected(name, 4, 4, gradients)] * 2
        frame = found.to_frame([])
        assert frame.iloc[0].tolist() == [0, 0, 0, 0]
        assert frame["participants"].tolist() == [0, 4, 4]

    @pytest.mark.parametrize("name", METHODS)
    def test_some(self, name) -> None:
        found = fc.simulate(instance(name, 0.0625), LEAST, 3, who.Uniform(3))
        gradients = {"DANE": 4, "FedDANE": 3}.get(name, 0)  # DANE asks everyone for gradients
        assert self.counts(found) == [self.expected(name, 3, 3, gradients)] * 3

    @pytest.mark.parametrize("name", METHODS)
    def test_the_late_have_been_sent_what_they_do_not_answer(self, name) -> None:
        found = fc.simulate(instance(name, 0.0625), LEAST, 3, who.Uniform(3), stragglers=DROP)
        gradients = {"DANE": 4, "FedDANE": 3}.get(name, 0)
        assert self.counts(found) == [self.expected(name, 3, 1, gradients)] * 3

    def test_partial_work_is_sent(self) -> None:
        late = who.Stragglers(1, "use")
        found = fc.simulate(fc.FedGD(stepsize=0.0625, local_steps=3), LEAST, 3, who.Uniform(3), stragglers=late)
        assert self.counts(found) == [self.expected("FedGD", 3, 3, 0)] * 3

    def test_nobody(self) -> None:
        found = fc.simulate(fc.Scaffold(stepsize=0.1), LEAST, 3, who.Schedule([[], [2], []]), measure="all")
        assert self.counts(found) == [(0, 0, 0), (1, 8 * D * 2, 8 * D * 2), (0, 0, 0)]
        frame = found.to_frame()
        assert np.isnan(frame.loc[[0, 1, 3], ROUND_COLUMNS]).all(axis=None)
        assert np.isfinite(frame.loc[2, ROUND_COLUMNS].astype(float)).all()
        late = fc.simulate(fc.FedGD(stepsize=0.1), LEAST, 1, stragglers=who.Stragglers(1, "drop"))
        assert self.counts(late) == [(0, 8 * D * 4, 0)]

    def test_a_client_drawn_twice_is_sent_to_once(self) -> None:
        scheme = who.Weighted(7)
        found = fc.simulate(fc.FedGD(stepsize=0.1), LEAST, 4, scheme, seed=3)
        distinct = [len(scheme.draw(LEAST, 3, t).members) for t in range(4)]
        assert max(distinct) < 7
        assert self.counts(found) == [self.expected("FedGD", n, n, 0) for n in distinct]

    def test_local_rounds_send_nothing(self) -> None:
        found = fc.simulate(fc.FedPD(eta=0.25, skip=0.5), LEAST, 20, seed=1)
        local = [np.array_equal(x, y) for x, y in pairwise(found.points)]
        assert 3 < sum(local) < 17
        assert self.counts(found) == [(4, 0, 0) if quiet else self.expected("FedPD", 4, 4, 0) for quiet in local]


def proximal_answers(x: np.ndarray, mu: float, s: float, e: int, linear: Any = None) -> tuple[np.ndarray, np.ndarray]:
    """θ_k and γ_k after e steps of size s on f_k + ⟨linear_k, ·⟩ + (mu/2)‖· − x‖² from x, all on `LEAST`."""
    linear = np.zeros((4, D)) if linear is None else linear
    answers, ratios = [], []
    for k in range(4):

        def slope(theta: np.ndarray, k: int = k) -> np.ndarray:
            return least_gradient(k, theta) + linear[k] + mu * (theta - x)

        theta = x
        for _ in range(e):
            theta = theta - s * slope(theta)
        answers.append(theta)
        ratios.append(np.linalg.norm(slope(theta)) / np.linalg.norm(slope(x)))
    return np.array(answers), np.array(ratios)


X0 = np.array([1.0, -2.0, 0.5])
ARITHMETICS = ["float", "exact", "torch"]


class TestAnswers:
    """Inexactness and drift of FedProx with gradient steps."""

    mu, s, e = 0.75, 0.0625, 3

    def run(self, participation: Any = None, arithmetic: str = "float", **options: Any) -> Any:
        return fc.simulate(
            fc.FedProx(mu=self.mu), LEAST, 3, participation, fc.GradientDescent(steps=self.e, stepsize=self.s),
            x0=X0, arithmetic=arithmetic, measure=["drift", "inexactness"], **options,
        )  # fmt: skip

    @pytest.mark.parametrize("arithmetic", ARITHMETICS)
    @pytest.mark.parametrize(
        "scheme",
        [who.Full(), who.Uniform(2), who.UniformThenWeighted(2), who.Weighted(5)],
        ids=lambda s: type(s).__name__,
    )
    def test_against_the_definitions(self, scheme, arithmetic) -> None:
        found = self.run(scheme, arithmetic, seed=4)
        points = np.array([[float(v) for v in x] for x in found.points])
        told_apart = []
        for t in range(3):
            theta, gamma = proximal_answers(points[t], self.mu, self.s, self.e)
            draw = scheme.draw(LEAST, 4, t)
            members = np.arange(4) if draw.members is None else draw.members
            shares = WEIGHTS[members] if draw.shares is None else draw.shares.astype(float)
            drift = np.sqrt(shares @ np.sum((theta[members] - points[t]) ** 2, axis=1) / shares.sum())
            assert found.recorded["drift"][t] == pytest.approx(drift, rel=1e-9)
            assert found.recorded["inexactness"][t] == pytest.approx(gamma[members].max(), rel=1e-9)
            told_apart.append(gamma[members].max() != pytest.approx(gamma[members].min(), rel=1e-3))
            plain = np.sqrt(np.mean(np.sum((theta[members] - points[t]) ** 2, axis=1)))
            told_apart.append(type(scheme) is who.Uniform or drift != pytest.approx(plain, rel=1e-6))
        assert any(told_apart[::2])  # the largest γ_k is not just any
        assert any(told_apart[1::2])  # nor the average
        assert list(found.to_frame([]))[-2:] == ["drift", "inexactness"]

    @pytest.mark.parametrize("gamma", [0.9, 0.3, 1e-3, Fraction(1, 10)])
    def test_what_was_asked_for_is_reached(self, gamma) -> None:
        for arithmetic in ARITHMETICS:
            found = fc.simulate(
                fc.FedProx(mu=1), LEAST, 2, local_solver=fc.ToInexactness(gamma), x0=X0, arithmetic=arithmetic,
                measure="inexactness",
            ).recorded["inexactness"]  # fmt: skip
            assert (found <= float(gamma)).all()
            assert (found > float(gamma) * 0.2).all()  # and not much more than that

    def test_one_gamma_for_each_client(self) -> None:
        """Every client works to its own; the largest is that of those who take part."""
        gammas, options = [0.1, 1, 0.5, 0.01], {"x0": X0, "measure": "inexactness"}

        def reached(gamma: Any, members: list[int]) -> float:
            scheme, solver = who.Schedule([members]), fc.ToInexactness(gamma)
            return float(fc.simulate(fc.FedProx(mu=1), LEAST, 1, scheme, solver, **options).recorded["inexactness"][0])

        alone = [reached(gamma, [k]) for k, gamma in enumerate(gammas)]
        assert [reached(gammas, [k]) for k in range(4)] == alone
        assert alone == pytest.approx(np.minimum(alone, gammas))
        assert [reached(gammas, [2, 3]), reached(gammas, [0, 1, 2, 3])] == [max(alone[2:]), max(alone)]
        assert len(set(alone)) == 4

    def test_no_work_and_all_the_work(self) -> None:
        lazy = fc.simulate(fc.FedProx(mu=1), LEAST, 1, local_solver=fc.ToInexactness(1), x0=X0, measure="all").recorded
        assert lazy["inexactness"].tolist() == [1]
        assert lazy["drift"].tolist() == [0]
        done = fc.simulate(fc.FedProx(mu=1), UNEQUAL, 2, x0=START, arithmetic="exact", measure="inexactness").recorded
        assert done["inexactness"].tolist() == [0, 0]
        nearly = fc.simulate(fc.FedProx(mu=1), LEAST, 1, x0=X0, measure="inexactness").recorded["inexactness"]
        assert 0 <= nearly[0] < 1e-13

    def test_where_the_start_is_the_solution(self) -> None:
        """0/0 is 0: nothing was left to do. Anything but 0 over 0 is inf."""
        agreed = fc.LeastSquares([[[1, 0], [0, 1]], [[2, 0], [0, 1]]], [[1, 1], [2, 1]])
        there = fc.simulate(fc.FedProx(mu=1), agreed, 1, x0=[1, 1], arithmetic="exact", measure="inexactness")
        assert there.recorded["inexactness"].tolist() == [0]

        @dataclass(frozen=True)
        class Astray(fc.local_solvers.LocalSolver):
            """Moves one client away from where it should be."""

            def solve(self, clients: Any, subproblem: Any, draw: Any = None) -> Any:
                moved = subproblem.start + 0
                moved[1] = moved[1] + 1
                return fc.local_solvers.Answers(moved)

            def require(self, problem: Any, scale: Any, weight: Any) -> None:
                pass

        for arithmetic in ARITHMETICS:
            away = fc.simulate(
                fc.FedProx(mu=1), agreed, 1, local_solver=Astray(), x0=[1, 1], arithmetic=arithmetic, measure="all"
            ).recorded
            assert away["inexactness"].tolist() == [np.inf]
            assert away["drift"].tolist() == [1]  # √(½·0 + ½·‖(1, 1)‖²)

    @pytest.mark.parametrize("arithmetic", ARITHMETICS)
    def test_with_linear_terms(self, arithmetic) -> None:
        """FedDyn's subproblems have one; its clients' functions are m·w_k·f_k."""
        alpha, s, e = 0.5, 0.0625, 2
        found = fc.simulate(
            fc.FedDyn(alpha=alpha), LEAST, 3, local_solver=fc.GradientDescent(steps=e, stepsize=s), x0=X0,
            arithmetic=arithmetic, measure="all",
        )  # fmt: skip
        memory, h, w, scale = np.zeros((4, D)), np.zeros(D), X0, 4 * WEIGHTS
        slopes = np.array([scale[k] * least_gradient(k, least_minimizer()) for k in range(4)])
        for t in range(3):
            theta, ratios = np.tile(w, (4, 1)), []
            for k in range(4):

                def slope(x: np.ndarray, k: int = k, w: np.ndarray = w, g: np.ndarray = memory) -> np.ndarray:
                    return scale[k] * least_gradient(k, x) - g[k] + alpha * (x - w)

                for _ in range(e):
                    theta[k] = theta[k] - s * slope(theta[k])
                ratios.append(np.linalg.norm(slope(theta[k])) / np.linalg.norm(slope(w)))
            drift = np.sqrt(np.mean(np.sum((theta - w) ** 2, axis=1)))
            memory = memory - alpha * (theta - w)
            h = h - alpha * np.mean(theta - w, axis=0)
            w = theta.mean(axis=0) - h / alpha
            error = np.sqrt(np.mean(np.sum((memory - slopes) ** 2, axis=1)))
            recorded = {name: found.recorded[name][t] for name in ROUND_COLUMNS}
            assert recorded == pytest.approx(
                {"inexactness": max(ratios), "drift": drift, "control_error": error}, rel=1e-8
            )
        assert [float(v) for v in found.points[-1]] == pytest.approx(w.tolist(), rel=1e-9)

    @few
    @given(scale=st.sampled_from([1e-160, 1e-3, 1e150, 1e200]))
    def test_ratios_do_not_depend_on_the_scale(self, scale) -> None:
        """Squares of such numbers are beyond the floats."""
        bowls = fc.Quadratic(H=[np.eye(2), 2 * np.eye(2)], c=[np.zeros(2), np.zeros(2)])
        found = fc.simulate(
            fc.FedProx(mu=1), bowls, 1, local_solver=fc.GradientDescent(steps=1, stepsize=0.25), x0=[scale, 0],
            measure=["inexactness", "drift"],
        ).recorded  # fmt: skip
        # slopes x and 2x at the start; 2·¾x − x = ½x and 3·½x − x = ½x after a step
        assert found["inexactness"] == pytest.approx([0.5])
        assert found["drift"] == pytest.approx([scale * np.sqrt((0.25**2 + 0.5**2) / 2)])


class TestControlErrors:
    """√((1/m) Σ_k ‖c_k − ∇F_k(x*)‖²) over all clients, F_k = m·w_k·f_k."""

    @staticmethod
    def slopes(weights: np.ndarray = WEIGHTS) -> np.ndarray:
        return np.array([4 * weights[k] * least_gradient(k, least_minimizer()) for k in range(4)])

    @pytest.mark.parametrize("arithmetic", ARITHMETICS)
    @pytest.mark.parametrize("scheme", [who.Full(), who.Uniform(2), who.Schedule([[0, 1], [], [3]])], ids=repr)
    @pytest.mark.parametrize(
        "method",
        [fc.FedDyn(alpha=0.5), fc.FedDynOneGD(alpha=8), fc.Scaffold(stepsize=0.0625, local_steps=2),
         fc.Scaffold(stepsize=0.0625, local_steps=2, option=1)],
        ids=["FedDyn", "FedDynOneGD", "Scaffold 2", "Scaffold 1"],
    )  # fmt: skip
    def test_against_the_states(self, method, scheme, arithmetic) -> None:
        """The state after every round is that of a run that ends there."""
        found = fc.simulate(method, LEAST, 3, scheme, x0=X0, arithmetic=arithmetic, measure="control_error", seed=2)
        part = "c" if isinstance(method, fc.Scaffold) else "gradient"
        for t in range(3):
            scheme_so_far = who.Schedule(scheme.clients[: t + 1]) if isinstance(scheme, who.Schedule) else scheme
            state = fc.simulate(method, LEAST, t + 1, scheme_so_far, x0=X0, arithmetic=arithmetic, seed=2).state
            variates = np.array([[self.number(v) for v in row] for row in state.memory[part]])
            error = np.sqrt(np.sum((variates - self.slopes()) ** 2) / 4)
            if found.recorded["participants"][t] == 0:
                assert np.isnan(found.recorded["control_error"][t])
                continue
            assert found.recorded["control_error"][t] == pytest.approx(error, rel=1e-7)
            unweighted = np.sqrt(np.sum((variates - self.slopes(np.full(4, 0.25))) ** 2) / 4)
            assert error != pytest.approx(unweighted, rel=1e-3)  # rejected: the weights forgotten

    @staticmethod
    def number(value: Any) -> float:
        return int(value.p) / int(value.q) if hasattr(value, "p") else float(value)

    def test_scaffold_knows_the_gradients_in_the_end(self) -> None:
        found = fc.simulate(fc.Scaffold(stepsize=0.02, local_steps=3), LEAST, 800, measure="control_error").recorded
        assert found["control_error"][-1] < 1e-6 * found["control_error"][0]

    @pytest.mark.parametrize("name", METHODS)
    def test_methods_without_control_variates_have_none(self, name) -> None:
        found = fc.simulate(instance(name, 0.0625), LEAST, 2, measure="control_error").recorded["control_error"]
        expected = name in ("FedDyn", "FedDynOneGD", "Scaffold")
        assert np.isfinite(found).tolist() == [expected] * 2

    def test_nor_problems_without_a_minimiser(self) -> None:
        falling = fc.Quadratic(H=[[[1, 0], [0, 0]], [[1, 0], [0, 0]]], c=[[0, 1], [0, 0]])
        found = fc.simulate(fc.FedDyn(alpha=1), falling, 2, measure="control_error").recorded["control_error"]
        assert np.isnan(found).all()


class TestMeasuringChangesNothing:
    @pytest.mark.parametrize("name", METHODS)
    @pytest.mark.parametrize("arithmetic", ARITHMETICS)
    def test_bit_for_bit(self, name, arithmetic) -> None:
        problem = SILENT if name == "FedAvg" else UNEQUAL
        options = {
            "participation": who.Uniform(3),
            "stragglers": DROP,
            "x0": START,
            "arithmetic": arithmetic,
            "seed": 6,
        }
        runs = [
            fc.simulate(instance(name), problem, 4, measure=measure, **options)
            for measure in (None, "all", "drift", ROUND_COLUMNS[::-1])
        ]
        for other in runs[1:]:
            assert bits(other.points) == bits(runs[0].points)
            assert list(map(bits, other.state.shared.values())) == list(map(bits, runs[0].state.shared.values()))
            assert list(map(bits, other.state.memory.values())) == list(map(bits, runs[0].state.memory.values()))
            for column in ("participants", "bytes_down", "bytes_up"):
                assert bits(other.recorded[column]) == bits(runs[0].recorded[column])
        assert bits(runs[0].points) != bits(fc.simulate(instance(name), problem, 4, measure="all",
                                                        **{**options, "seed": 7}).points)  # fmt: skip
        assert list(runs[0].recorded) == ["participants", "bytes_down", "bytes_up"]
        assert list(runs[1].recorded)[3:] == [*ROUND_COLUMNS, "client_inexactness"]
        assert list(runs[2].recorded)[3:] == ["drift"]
        for column in ROUND_COLUMNS:
            assert bits(runs[1].recorded[column]) == bits(runs[3].recorded[column])

    @pytest.mark.parametrize("arithmetic", ["float", "exact", "torch", "ball"])
    @pytest.mark.parametrize("method", [fc.FedProx(mu=1), fc.Scaffold(stepsize=QUARTER), fc.FedDyn(alpha=1)], ids=repr)
    def test_arithmetics_measure_the_same(self, method, arithmetic) -> None:
        solver = fc.GradientDescent(steps=2, stepsize=Fraction(1, 8))
        options = {"participation": who.Uniform(3), "local_solver": solver, "x0": START, "measure": "all", "seed": 1}
        expected = fc.simulate(method, EQUAL, 3, **options).recorded
        found = fc.simulate(method, EQUAL, 3, arithmetic=arithmetic, **options).recorded
        assert list(found) == list(expected)
        for column in found:
            assert found[column].dtype == np.float64
            assert found[column] == pytest.approx(expected[column], rel=1e-9, nan_ok=True)

    @pytest.mark.parametrize("rounds", [0, 1])
    def test_columns_do_not_depend_on_the_number_of_rounds(self, rounds) -> None:
        frame = fc.simulate(fc.FedProx(mu=1), LEAST, rounds, measure="all").to_frame()
        assert list(frame) == ["round", *POINT_COLUMNS, "participants", "bytes_down", "bytes_up", *ROUND_COLUMNS]
        assert len(frame) == rounds + 1
        assert frame.iloc[0][["participants", "bytes_down", "bytes_up"]].tolist() == [0, 0, 0]
        assert np.isnan(frame.iloc[0][ROUND_COLUMNS].astype(float)).all()
