"""Measuring does not change a run, and gives the same values in every arithmetic."""

from fractions import Fraction

import numpy as np
import pytest
from reference_measurements import ARITHMETICS, DROP, LEAST, ROUND_COLUMNS
from run_makers import EQUAL, QUARTER, SILENT, START, UNEQUAL, bits, instance

import fedconvex as fc
from fedconvex import participation as who
from fedconvex.methods import METHODS
from fedconvex.runs.measurements import POINT_COLUMNS


class TestMeasuringChangesNothing:
    @pytest.mark.beyond_core  # takes seconds
    @pytest.mark.parametrize("name", METHODS)
    @pytest.mark.parametrize("arithmetic", ARITHMETICS)
    def test_bit_for_bit(self, name, arithmetic) -> None:
        if arithmetic == "exact" and METHODS[name].takes_square_roots:
            return
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
        if name != "FedLin":  # whose first local step is everybody's, whoever is drawn
            other = fc.simulate(instance(name), problem, 4, measure="all", **{**options, "seed": 7})
            assert bits(runs[0].points) != bits(other.points)
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
