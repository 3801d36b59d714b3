"""Compressors keep their promises, exactly; methods that compress do what their papers' formulas do."""

import pickle
from dataclasses import dataclass, replace
from fractions import Fraction as F
from itertools import combinations, product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rational_draws import rationals

import fedconvex as fc
from fedconvex import arithmetic
from fedconvex.claims.methods import running
from fedconvex.compressors import Compressor, Contractive, RandK, TopK, Unbiased
from fedconvex.conformance import check
from fedconvex.errors import FedconvexError, InvalidInput
from fedconvex.participation import Draw, Uniform
from fedconvex.runs.rounds import rounds_of

PROBLEM = fc.LeastSquares(A=[[[1, 2], [0, 1]], [[3, 0], [1, 1]], [[1, 0], [0, 2]]], b=[[1, 2], [0, 4], [3, -1]])


class Permuting:
    """A generator that puts these indices first."""

    def __init__(self, first: tuple[int, ...]) -> None:
        self.first = first

    def permutation(self, n: int) -> list[int]:
        return [*self.first, *(i for i in range(n) if i not in self.first)]


class Fixed:
    """A generator whose next number is this."""

    def __init__(self, number: float) -> None:
        self.number = number

    def random(self) -> float:
        return self.number


def outcomes(compressor: Any, dim: int) -> list[tuple[F, Any]]:
    """All that chance may make of it, with probabilities."""
    if isinstance(compressor, RandK):
        every = list(combinations(range(dim), compressor.k))
        return [(F(1, len(every)), Permuting(one)) for one in every]
    likely = 1 / (1 + F(compressor.omega)) if isinstance(compressor, Unbiased) else F(compressor.delta)
    return [(likely, Fixed(float(likely) * 0.999)), (1 - likely, Fixed(float(likely)))]


def compressed(compressor: Compressor, v: Any, generator: Any = None) -> Any:
    exact = arithmetic.get("exact")
    return exact.publish(compressor.compress(exact.array([v]), [generator], exact)[0])[0]


@given(st.lists(rationals(-3, 3), min_size=4, max_size=4))
@pytest.mark.parametrize("compressor", [Unbiased(F(3, 2)), RandK(1), RandK(3), Contractive(F(1, 3))])
def test_random_ones_attain_what_they_promise(compressor: Any, entries: Any) -> None:
    v, promise = np.array(entries, dtype=object), compressor.promise(4)
    sent = [(chance, compressed(compressor, v, one)) for chance, one in outcomes(compressor, 4)]
    unbiased = isinstance(promise, Unbiased)
    mean, squares = (
        sum(p * made for p, made in these) for these in (sent, [(p, ((c - v) ** 2).sum()) for p, c in sent])
    )
    assert list(mean) == list(v if unbiased else v * F(1, 3))
    assert squares == (F(promise.omega) if unbiased else 1 - F(promise.delta)) * (v * v).sum()


@given(st.lists(rationals(-3, 3), min_size=5, max_size=5), st.integers(1, 5))
def test_the_largest_entries_contract(entries: Any, k: int) -> None:
    v = np.array(entries, dtype=object)
    sent = compressed(TopK(k), v)
    assert sorted(map(abs, v[sent == 0]), reverse=True) <= [min(map(abs, sent[sent != 0]), default=F(0))] * 5
    assert ((sent - v) ** 2).sum() <= (1 - F(k, 5)) * (v * v).sum()
    assert list(TopK(k).compress(np.array([v], dtype=float), [None], arithmetic.get("float"))[0][0]) == list(
        map(float, sent)
    )


@dataclass(frozen=True)
class Chosen(Compressor):
    """Clients that send everything, twice as long, and others that send nothing."""

    sends: tuple[bool, ...]
    contracts: bool = False

    def promise(self, dim: int) -> Any:
        return Contractive(1) if self.contracts else Unbiased(1)

    def factor(self, dim: int) -> F:
        return F(2)

    def kept(self, rows: Any, generators: Any, arithmetic: Any) -> np.ndarray:
        return np.broadcast_to(np.array(self.sends)[: len(rows), None], rows.shape)


class Undeclared(fc.EF21):
    """A method that compresses, and does not say so."""

    compresses = False


@pytest.mark.parametrize("sends", list(product([True, False], repeat=2)))
def test_rounds_are_those_of_the_papers(sends: tuple[bool, ...]) -> None:
    """Two of three clients take part: of DIANA and, with what need not be unbiased, of EF21's formulas."""
    s, alpha, members = F(1, 20), F(1, 3), [0, 2]
    for biased in (False, True):
        method: Any = fc.DIANA(stepsize=s, memory_stepsize=alpha, compressor=Chosen(sends))
        if biased:
            method = fc.EF21(stepsize=s, compressor=Chosen(sends, contracts=True))
        rounds = rounds_of(method, PROBLEM, "exact")
        state = rounds.start(rounds.arithmetic.array([1, -2]))
        w, h = np.array([F(1), F(-2)]), np.array([[F(0)] * 2] * 3)
        for t in range(3):
            state = rounds.advance(state, Draw(np.array(members), round=t))
            gradients = np.array([PROBLEM.A[k].T @ (PROBLEM.A[k] @ w - PROBLEM.b[k]) for k in range(3)])
            m = [2 * yes * (gradients[k] - h[k]) for k, yes in zip(members, sends, strict=True)]
            before = h.mean(0)
            for k, sent in zip(members, m, strict=True):
                h[k] = h[k] + (sent if biased else alpha * sent)
            w = w - s * (h.mean(0) if biased else before + sum(m) / 2)
            assert list(rounds.arithmetic.publish(state.server)) == list(w)
            assert list(rounds.arithmetic.publish(state.shared["h"])) == list(h.mean(0))


@pytest.mark.parametrize(
    ("compressor", "numbers"), [(RandK(1), 1), (RandK(2), 2), (TopK(1), 2), (Unbiased(0), 2), (Contractive(1), 2)]
)
def test_what_is_sent_is_counted(compressor: Any, numbers: int) -> None:
    kind = fc.DIANA if isinstance(compressor.promise(2), Unbiased) else fc.EF21
    run = fc.simulate(kind(stepsize=0.01, compressor=compressor), PROBLEM, 4, participation=Uniform(2))
    assert run.recorded["bytes_up"].tolist() == [8 * 2 * numbers] * 4
    assert run.recorded["bytes_down"].tolist() == [8 * 2 * 2] * 4


@pytest.mark.parametrize("method", [fc.DIANA(stepsize=0.01, compressor=RandK(1)), fc.EF21(stepsize=0.01)])
def test_a_run_goes_on_as_it_would_have_gone(method: Any, tmp_path: Path) -> None:
    """Randomness depends on the round; another compressor is another run."""
    options: Any = {"participation": Uniform(2), "seed": 3}
    whole = fc.simulate(method, PROBLEM, 12, **options)
    fc.simulate(method, PROBLEM, 5, checkpoint=tmp_path / "run", **options)
    other = replace(method, compressor=Unbiased(1) if isinstance(method, fc.DIANA) else TopK(1))
    with pytest.raises(InvalidInput, match="another run"):
        fc.simulate(other, PROBLEM, 12, checkpoint=tmp_path / "run", **options)
    resumed = fc.simulate(method, PROBLEM, 12, checkpoint=tmp_path / "run", **options)
    assert (resumed.points[-1] == whole.points[-1]).all()
    assert pickle.loads(pickle.dumps(method)) == method  # noqa: S301 - our own, as a sweep sends it


@dataclass(frozen=True)
class Wrong(Compressor):
    """A user's compressor with a mistake: NumPy would take each of these masks for another one."""

    mask: Any = None
    promised: Any = None

    def promise(self, dim: int) -> Any:
        return self.promised or Unbiased(1)

    def kept(self, rows: Any, generators: Any, arithmetic: Any) -> Any:
        return self.mask and self.mask(rows)


class OfTheServer(fc.DIANA):
    """Compresses what is no client's."""

    def update(self, state: Any, cohort: Any, answers: Any) -> Any:
        return replace(state, server=cohort.compress(self.compressor, state.server))


@pytest.mark.beyond_core  # many rounds
def test_runs_converge_where_heterogeneous_clients_compress() -> None:
    """Each client draws for itself, in every round anew, and a run is the same again."""
    step = 1 / (4 * float(max(PROBLEM.L)))
    diana = fc.DIANA(stepsize=step, memory_stepsize=0.4, compressor=RandK(1))
    for method in (
        diana,
        fc.EF21(stepsize=step, compressor=TopK(1)),
        fc.EF21(stepsize=step, compressor=Contractive(0.5)),
    ):
        run = fc.simulate(method, PROBLEM, rounds=600, participation=Uniform(2))
        assert np.linalg.norm(run.points[-1] - fc.ground_truth(PROBLEM).point) < 1e-7
        again = fc.simulate(method, PROBLEM, rounds=5, participation=Uniform(2))
        assert (run.points[:6] == again.points).all()
    plain = fc.simulate(fc.FedGD(stepsize=step), PROBLEM, rounds=5)
    nothing = fc.simulate(replace(diana, compressor=Unbiased(0)), PROBLEM, rounds=5)
    assert np.allclose(plain.points, nothing.points, rtol=1e-13)
    alike = fc.LeastSquares(A=[[[1, 0], [0, 1]]] * 40, b=[[1, 1]] * 40)
    first = fc.simulate(replace(diana, stepsize=1), alike, rounds=1).points[1]
    assert len({*first}) == 2  # forty clients that drew alike would have moved one entry alone
    assert 0 not in first


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: Unbiased(-1), "omega.*negative"),
        (lambda: Contractive(0), "delta"),
        (lambda: Contractive(F(3, 2)), "delta"),
        (lambda: RandK(0), "k"),
        (lambda: fc.simulate(fc.EF21(stepsize=1, compressor=TopK(3)), PROBLEM, rounds=1), "k = 3.*2 entries"),
        (lambda: fc.EF21(stepsize=1, compressor=RandK(1)), "not contractive.*DIANA"),
        (lambda: fc.DIANA(stepsize=1, memory_stepsize=1, compressor=TopK(1)), "not unbiased.*EF21"),
        (lambda: fc.DIANA(stepsize=1, memory_stepsize=0, compressor=RandK(1)), "memory_stepsize"),
        (lambda: fc.EF21(stepsize=1, compressor=0.1), "compressor = 0.1.*RandK"),
        (lambda: fc.simulate(fc.EF21(stepsize=1, compressor=TopK(1)), PROBLEM, 1, arithmetic="ball"), "arithmetic"),
        (lambda: compressed(Wrong(), np.ones(2)), "keeps None.*truth values of shape \\(1, 2\\)"),
        (lambda: compressed(Wrong(lambda rows: np.ones(2, dtype=bool)), np.ones(2)), "keeps bool of shape \\(2,\\)"),
        (lambda: compressed(Wrong(lambda rows: np.full(rows.shape, 0.5)), np.ones(2)), "keeps float64"),
        (lambda: compressed(Wrong(promised=3), np.ones(2)), "promise = 3: is not a promise"),
        (lambda: fc.simulate(OfTheServer(stepsize=1), PROBLEM, 1), "rows = \\(2,\\).*before it is averaged"),
        (lambda: running("DIANA", stepsize=F(1, 2)), "method = DIANA: compresses.*compressor.*lyapunov"),
        (lambda: fc.simulate(Undeclared(stepsize=1), PROBLEM, 1), "declare"),
        (lambda: check(fc.EF21(stepsize=1), init=None, round=None, server_model=None), "at random"),
        # one draw of a round must not pass for all of them
        (lambda: fc.fixed_point(fc.EF21(stepsize=F(1, 9), compressor=Contractive(F(1, 2))), PROBLEM), "at random"),
        (lambda: fc.fixed_point(fc.EF21(stepsize=F(1, 9), compressor=TopK(1)), PROBLEM, "exact"), "at random"),
    ],
)
def test_what_cannot_be_is_refused(call: Any, words: str) -> None:
    with pytest.raises(FedconvexError, match=words):
        call()
