"""Pictures of `fedconvex bounds`: files of every kind, curves, lines and contours with the papers' letters."""

import numpy as np
import pytest
from bounds_runner import GIVEN, rho
from command_runner import running

from fedconvex.commands.bounds.figure import draw_sweep
from fedconvex.commands.bounds.formulas import find
from fedconvex.commands.bounds.parameters import parse
from fedconvex.commands.bounds.sweep import run_sweep

run = running("bounds")

pytestmark = pytest.mark.beyond_core  # draws


@pytest.mark.sample(2)
@pytest.mark.parametrize(
    ("plot", "name", "beginning"),
    [
        (["--plot"], "bounds-fedprox.theorem4.png", b"\x89PNG"),
        (["--plot", "a.png"], "a.png", b"\x89PNG"),
        (["--plot=b.pdf"], "b.pdf", b"%PDF"),
        (["--plot", "c.svg"], "c.svg", b"<?xml"),
    ],
)
def test_picture_files(run, monkeypatch, tmp_path, plot, name, beginning):
    monkeypatch.chdir(tmp_path)
    code, _, err = run("fedprox.rho", *plot, "--sweep", "mu=5:80:50", *GIVEN)
    assert code == 0
    assert f"saved {name}" in err
    assert (tmp_path / name).read_bytes().startswith(beginning)
    assert len(list(tmp_path.iterdir())) == 1


def swept(name, texts, **fixed):
    entry = find(name)
    return run_sweep(entry, parse(entry, fixed), texts)


def test_curve_of_rho_has_a_zero_line_and_the_papers_letters():
    sweep = swept("fedprox.rho", ["mu=1:100:50"], L="1", L_minus="0", B="1.2", gamma="0", K="10")
    axes = draw_sweep(sweep)
    curve, zero = axes.get_lines()
    np.testing.assert_array_equal(curve.get_ydata(), sweep.numbers["rho"])
    assert list(zero.get_ydata()) == [0, 0]
    assert axes.get_xlabel().startswith(r"$\mu$")
    assert axes.get_ylabel() == r"$\rho$"
    assert axes.get_title().startswith("FedProx, Theorem 4 (upper bound)\n$L$ = 1, $L_{-}$ = 0, $B$ = 6/5")
    (shaded,) = axes.collections
    assert min(point[0] for path in shaded.get_paths() for point in path.vertices) > 6  # only where ρ > 0
    assert axes.get_ylim()[0] > sweep.numbers["rho"].min()  # the pole at 0 does not flatten the rest


def test_two_parameters_are_lines_or_contours():
    fixed = {"L_minus": "0", "B": "1.2", "gamma": "0", "K": "10"}
    lines = draw_sweep(swept("fedprox.rho", ["mu=1:100:50", "L=1:3:3"], **fixed))
    assert [text.get_text() for text in lines.get_legend().get_texts()] == ["$L$ = 1", "$L$ = 2", "$L$ = 3"]
    np.testing.assert_allclose(
        lines.get_lines()[1].get_ydata(), [float(rho(mu, L=2)) for mu in np.linspace(1, 100, 50)], rtol=1e-10
    )
    contours = draw_sweep(swept("fedprox.rho", ["mu=-9:100:50", "L=1:3:20"], **fixed))
    assert contours.get_ylabel().startswith("$L$")
    (colours,) = [axes for axes in contours.figure.axes if axes is not contours]
    assert colours.get_ylabel() == r"$\rho$, grey: no guarantee, white: refused"


@pytest.mark.sample(3)
@pytest.mark.parametrize(
    ("name", "texts", "fixed", "says"),
    [
        (
            "fedprox.rho",
            ["mu=1:2:9", "L=1:2:9"],
            {"L_minus": "0", "B": "1", "gamma": "0", "K": "1"},
            "nowhere positive",
        ),
        ("fedprox.equation3", ["gamma=0:1:9", "client_gradient=0:1:9"], {}, ""),
        ("fedprox.equation10", ["mean_value=1:2:9", "Q=0:1e-300:9"], {}, ""),
        ("fedprox.rho", ["mu=1:2:9"], {"L": "1", "L_minus": "0", "B": "1", "gamma": "0", "K": "1"}, "nowhere positive"),
        ("fedsplit.theorem1", ["t=log:1:1e4:30"], {"kappa": "9", "initial_distance": "1", "num_clients": "1"}, ""),
        ("fedprox.theorem6", ["rho=1:2:9", "epsilon=1:2:9"], {"delta": "0"}, "everywhere 1"),
        ("fedprox.corollary7", ["L=log:1:100:9"], {"B": "2", "K": "16"}, ""),
    ],
)
def test_pictures_of_all_kinds(name, texts, fixed, says):
    from fedconvex.commands.bounds.figure import picture_of

    sweep = swept(name, texts, **fixed)
    assert picture_of(sweep, ".png").startswith(b"\x89PNG")
    axes = draw_sweep(sweep)
    assert says in " ".join(text.get_text() for text in axes.texts)
    if "log:" in texts[0]:
        assert (axes.get_xscale(), axes.get_yscale()) == ("log", "log")
