"""Local solvers refuse subproblems without a proved positive curvature."""

import re
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from problem_makers import POSITIVE, few, fractions, quadratics
from run_makers import instance

import fedconvex as fc
from fedconvex.errors import InvalidInput
from fedconvex.methods import METHODS
from fedconvex.runs.rounds import rounds_of


class TestCurvatureIsRequired:
    SADDLE = fc.Quadratic([[[2, 0], [0, 1]], [[0, 2], [2, 0]]], [[1, 1], [1, 1]])

    @pytest.mark.parametrize("solver", [fc.Newton(), fc.AcceleratedGradient(), fc.ToInexactness(0.5)], ids=repr)
    @few
    @given(problem=quadratics(), weight=POSITIVE)
    def test_indefinite_clients_are_refused_exactly_then(self, solver, problem, weight) -> None:
        least = problem.mu.min() + float(weight)
        if abs(least) < 1e-6:
            return
        method = fc.FedProx(mu=weight)
        if least > 0:
            rounds_of(method, problem, "float", solver)
            return
        with pytest.raises(InvalidInput, match=r"client \d's subproblem is not (strongly )?convex") as caught:
            rounds_of(method, problem, "float", solver)
        said = re.search(r"client (\d).*least curvature is (\S+)\); raise it above ([^,]+),", str(caught.value))
        assert said is not None
        mu = problem.mu[int(said[1])]
        assert [float(said[2]), float(said[3])] == pytest.approx([mu + float(weight), -mu], rel=1e-4)
        enough = Fraction(-problem.mu.min()).limit_denominator(10**6) + Fraction(1, 100)
        rounds_of(fc.FedProx(mu=enough), problem, "float", solver)

    def test_on_the_border(self) -> None:
        """A least curvature of 0 is convex, not strongly convex."""
        border = fc.FedProx(mu=2)
        rounds_of(border, self.SADDLE, "float", fc.AcceleratedGradient())
        for solver in (fc.Newton(), fc.ToInexactness(0), fc.Exact()):
            with pytest.raises(InvalidInput):
                rounds_of(border, self.SADDLE, "float", solver)
        for solver in (fc.Newton(), fc.ToInexactness(0), fc.AcceleratedGradient(), fc.Exact()):
            rounds_of(fc.FedProx(mu=2.001), self.SADDLE, "float", solver)
            with pytest.raises(InvalidInput):
                rounds_of(fc.FedProx(mu=1.999), self.SADDLE, "float", solver)

    @pytest.mark.parametrize("name", [name for name in METHODS if name not in ("FedNova", "Scaffold", "DIANA", "EF21")])
    def test_methods_without_a_pull_need_it_of_the_clients(self, name) -> None:
        wide = fc.LeastSquares([[[1, 2]], [[2, 1]]], [[1], [1]])
        pulled = instance(name).proximal_weight != 0
        for solver in (fc.Newton(), fc.ToInexactness(0.5), fc.Exact()):
            if pulled:
                rounds_of(instance(name), wide, "float", solver)
            else:
                with pytest.raises(InvalidInput, match="client 0"):
                    rounds_of(instance(name), wide, "float", solver)
        rounds_of(instance(name), wide, "float", fc.AcceleratedGradient())

    def test_convexity_is_decided_exactly(self) -> None:
        """Positive definite, although the eigenvalues that floats find have a negative one among them."""
        rows = np.array([[6, 2, 0], [-5, -4, -9]], dtype=object)
        H = rows.T @ rows + Fraction(1, 10**17) * fractions(np.eye(3, dtype=int))
        problem = fc.Quadratic([H], [[1, 1, 1]])
        assert problem.is_convex
        rounds_of(fc.FedGD(stepsize=1), problem, "float", fc.AcceleratedGradient())
        bent = fc.Quadratic([H - Fraction(2, 10**17) * fractions(np.eye(3, dtype=int))], [[1, 1, 1]])
        assert not bent.is_convex
        with pytest.raises(InvalidInput, match="not convex"):
            rounds_of(fc.FedGD(stepsize=1), bent, "float", fc.AcceleratedGradient())

    def test_a_factor_counts(self) -> None:
        """A client of weight 0 is no function at all to methods that carry the weights in the clients."""
        problem = fc.Quadratic([[[-4]], [[2]]], [[1], [1]], weights=[0, 1])
        for solver in (fc.Newton(), fc.AcceleratedGradient(), fc.ToInexactness(0.5), fc.Exact()):
            rounds_of(fc.FedDyn(alpha=1), problem, "float", solver)
            with pytest.raises(InvalidInput, match="client 0"):
                rounds_of(fc.FedProx(mu=1), problem, "float", solver)
