"""Participants and bytes sent down and up in every round of every method."""

from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from reference_measurements import DROP, LEAST, ROUND_COLUMNS, D
from run_makers import instance

import fedconvex as fc
from fedconvex import participation as who
from fedconvex.methods import METHODS


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
        if arithmetic == "exact" and METHODS[name].takes_square_roots:
            return
        found = fc.simulate(instance(name, Fraction(1, 16)), LEAST, 2, arithmetic=arithmetic)
        gradients = 4 if name in ("DANE", "FedDANE", "FedLin") else 0
        assert self.counts(found) == [self.expected(name, 4, 4, gradients)] * 2
        frame = found.to_frame([])
        assert frame.iloc[0].tolist() == [0, 0, 0, 0]
        assert frame["participants"].tolist() == [0, 4, 4]

    @pytest.mark.parametrize("name", METHODS)
    @pytest.mark.parametrize(("late", "answered"), [(None, 3), (DROP, 1)], ids=["some", "late"])
    def test_some_and_the_late_that_do_not_answer_what_they_have_been_sent(self, late, answered, name) -> None:
        found = fc.simulate(instance(name, 0.0625), LEAST, 3, who.Uniform(3), stragglers=late)
        gradients = {"DANE": 4, "FedLin": 4, "FedDANE": 3}.get(name, 0)  # DANE asks everyone for gradients
        assert self.counts(found) == [self.expected(name, 3, answered, gradients)] * 3

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
