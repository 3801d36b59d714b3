"""Columns of a run's frame that depend on the round (inexactness, drift, control error), against the definitions."""

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from problem_makers import few
from reference_measurements import ARITHMETICS, LEAST, ROUND_COLUMNS, WEIGHTS, X0, D, least_gradient, least_minimizer
from run_makers import START, UNEQUAL, instance

import fedconvex as fc
from fedconvex import participation as who
from fedconvex.methods import METHODS


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

    @pytest.mark.beyond_core  # takes seconds
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
        expected = name in ("DIANA", "EF21", "FedDyn", "FedDynOneGD", "Scaffnew", "Scaffold")
        assert np.isfinite(found).tolist() == [expected] * 2

    def test_nor_problems_without_a_minimiser(self) -> None:
        falling = fc.Quadratic(H=[[[1, 0], [0, 0]], [[1, 0], [0, 0]]], c=[[0, 1], [0, 0]])
        found = fc.simulate(fc.FedDyn(alpha=1), falling, 2, measure="control_error").recorded["control_error"]
        assert np.isnan(found).all()
