"""The picture of a sweep shows medians and bytes sent."""

import numpy as np
import pytest

import fedconvex as fc

pytestmark = pytest.mark.beyond_core  # draws


@pytest.fixture(scope="module")
def table():
    problem = fc.LeastSquares(A=[[[1, 2], [0, 1]], [[3, 0], [1, 1]], [[1, 0]]], b=[[1, 2], [3, -4], [2]])
    methods = {"FedGD": fc.FedGD(stepsize=0.05, local_steps=2), "SCAFFOLD": fc.Scaffold(stepsize=0.05, local_steps=2)}
    two = fc.participation.Uniform(2)
    return fc.sweep(methods, {"small": problem}, range(3), rounds=12, participation=two, jobs=1, progress=False)


def curves(axes):
    return {line.get_label(): line for line in axes.get_lines()}


def test_lines_are_medians_over_the_seeds(table) -> None:
    axes = fc.draw_sweep(table)
    assert set(curves(axes)) == {"FedGD", "SCAFFOLD"}
    assert axes.get_yscale() == "log"
    for method, line in curves(axes).items():
        rows = table[table.method == method]
        by_hand = [np.median(rows[rows["round"] == t].gap) for t in range(13)]
        assert np.array_equal(line.get_ydata(), by_hand)
        assert np.array_equal(line.get_xdata(), range(13))


def test_bytes_add_up_and_scaffold_sends_twice_as_much(table) -> None:
    sent = {method: line.get_xdata() for method, line in curves(fc.draw_sweep(table, x="bytes")).items()}
    a_round = 2 * 2 * 2 * 8  # two clients, two directions, two numbers of eight bytes
    assert np.array_equal(sent["FedGD"], a_round * np.arange(13))
    assert np.array_equal(sent["SCAFFOLD"], 2 * a_round * np.arange(13))


def test_quantities_with_a_sign_get_a_linear_scale(table) -> None:
    assert fc.draw_sweep(table.assign(gap=-table.gap)).get_yscale() == "linear"


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [({"y": "accuracy"}, "y = accuracy"), ({"x": "time"}, "x = time"), ({"problem": "large"}, "choose small")],
)
def test_bad_input_is_refused(table, arguments, complaint) -> None:
    with pytest.raises(fc.InvalidInput, match=complaint):
        fc.draw_sweep(table, **arguments)
