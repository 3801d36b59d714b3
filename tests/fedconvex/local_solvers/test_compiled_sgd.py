"""The compiled SGD against its formula, sample by sample; the same comparison must notice planted faults."""

import math
from dataclasses import dataclass, replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from mpmath import mp

from fedconvex.errors import InvalidInput
from fedconvex.local_solvers import compiled_sgd as module
from fedconvex.local_solvers.compiled_sgd import compiled_sgd

LOSSES = ("softmax", "logistic", "squares")


@dataclass(frozen=True)
class Case:
    loss: str
    A: np.ndarray
    y: np.ndarray
    order: np.ndarray
    bounds: np.ndarray
    client_batches: np.ndarray
    factor: np.ndarray
    ridge: np.ndarray
    start: np.ndarray
    linear: np.ndarray | None
    weight: float
    center: np.ndarray | None
    stepsize: float
    weight_decay: float
    clip: float
    momentum: float

    def compiled(self) -> np.ndarray:
        return compiled_sgd(*self.__dict__.values())


def case(
    loss: str,
    classes: int,
    p: int,
    widths: tuple[tuple[int, ...], ...] = ((10, 10, 3) * 8, (4,) * 20, (), (1, 2, 23, 5, 6, 11) * 4),
    *,
    terms: bool = True,
    weight_decay: float = 0.0,
    clip: float = math.inf,
    momentum: float = 0.0,
    seed: int = 0,
) -> Case:
    """Client k takes a step on batches of widths[k] samples; steps short enough to converge."""
    generator = np.random.default_rng(seed)
    K, per_client = len(widths), 13
    C = classes if loss == "softmax" else 1
    targets = {
        "softmax": generator.integers(0, C, K * per_client),
        "logistic": generator.choice([-1.0, 1.0], K * per_client),
        "squares": generator.normal(size=K * per_client),
    }
    order = [k * per_client + generator.integers(0, per_client, sum(w)) for k, w in enumerate(widths)]
    sizes = np.array([n for w in widths for n in w], dtype=np.int64)
    start, linear, center = generator.normal(size=(3, K, C * p))
    return Case(
        loss,
        A=generator.normal(size=(K * per_client, p)),
        y=targets[loss].astype(float),
        order=np.concatenate(order).astype(np.int64),
        bounds=np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64),
        client_batches=np.concatenate([[0], np.cumsum([len(w) for w in widths])]).astype(np.int64),
        factor=generator.uniform(0.5, 2, K),
        ridge=generator.uniform(0, 1, K) if terms else np.zeros(K),
        start=start,
        linear=linear if terms else None,
        weight=0.7 if terms else 0.0,
        center=center if terms else None,
        stepsize=0.3 / p,
        weight_decay=weight_decay,
        clip=clip,
        momentum=momentum,
    )


def derivative(loss: str, scores: np.ndarray, y: float) -> np.ndarray:
    if loss == "squares":
        return scores - y
    if loss == "logistic":
        return np.array([-y * math.exp(-y * scores[0] - np.logaddexp(0, -y * scores[0]))])
    largest = max(scores)
    exponentials = np.array([math.exp(score - largest) for score in scores])
    indicator = np.array([float(c == y) for c in range(len(scores))])
    return exponentials / math.fsum(exponentials) - indicator


def transcription(
    case: Case, *, sign_of_linear: int = 1, divide_by_widest: bool = False, shared_velocity: bool = False
) -> np.ndarray:
    """The formula of compiled_sgd; the keywords plant faults."""
    widest = np.diff(case.bounds).max(initial=0)
    answers = []
    velocity = np.zeros_like(case.start[0])
    for k, start in enumerate(case.start):
        theta = start.copy()
        if not shared_velocity:
            velocity = np.zeros_like(start)
        for number in range(case.client_batches[k], case.client_batches[k + 1]):
            batch = case.order[case.bounds[number] : case.bounds[number + 1]]
            gradient = np.zeros_like(theta)
            for i in batch:
                scores = theta.reshape(-1, case.A.shape[1]) @ case.A[i]
                gradient += np.outer(derivative(case.loss, scores, case.y[i]), case.A[i]).ravel()
            g = case.factor[k] * gradient / (widest if divide_by_widest else len(batch)) + case.ridge[k] * theta
            g += sign_of_linear * (0 if case.linear is None else case.linear[k])
            g += case.weight * (theta - (0 if case.center is None else case.center[k]))
            length = np.linalg.norm(g)
            if length > case.clip:
                g *= case.clip / length
            velocity = case.momentum * velocity + g + case.weight_decay * theta
            theta = theta - case.stepsize * velocity
        answers.append(theta)
    return np.array(answers)


def agree(x: np.ndarray, y: np.ndarray) -> bool:
    """To 1e-12 of every client's longest entry."""
    return bool(np.all(np.abs(x - y) <= 1e-12 * np.abs(y).max(axis=1, keepdims=True)))


@pytest.mark.beyond_core  # takes seconds
@pytest.mark.sample(11)
@pytest.mark.parametrize("p", [1, 7, 8, 61])
@pytest.mark.parametrize(
    ("loss", "classes"), [("softmax", 2), ("softmax", 3), ("softmax", 10), ("logistic", 1), ("squares", 1)]
)
def test_steps_are_those_of_the_formula(loss, classes, p):
    for variant in (
        case(loss, classes, p, terms=False),
        case(loss, classes, p),
        case(loss, classes, p, weight_decay=0.1),
        case(loss, classes, p, clip=0.5, weight_decay=0.1),
        case(loss, classes, p, momentum=0.9),
        case(loss, classes, p, clip=0.5, weight_decay=0.1, momentum=0.5),
        replace(case(loss, classes, p), linear=None),
        replace(case(loss, classes, p), center=None),
    ):
        assert agree(variant.compiled(), transcription(variant))


@settings(deadline=None)
@given(
    loss=st.sampled_from(LOSSES),
    classes=st.integers(1, 9),
    p=st.integers(1, 20),
    widths=st.lists(st.lists(st.integers(1, 12), max_size=6).map(tuple), min_size=1, max_size=4).map(tuple),
    terms=st.booleans(),
    clip=st.sampled_from([math.inf, 1.0]),
    momentum=st.sampled_from([0.0, 0.7]),
    seed=st.integers(0, 1000),
)
def test_any_batches(loss, classes, p, widths, terms, clip, momentum, seed):
    drawn = case(loss, classes, p, widths, terms=terms, clip=clip, momentum=momentum, seed=seed)
    assert agree(drawn.compiled(), transcription(drawn))


@pytest.mark.beyond_core  # takes seconds
@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("fault", [{"sign_of_linear": -1}, {"divide_by_widest": True}, {"shared_velocity": True}])
@pytest.mark.parametrize("clip", [math.inf, 5.0])
def test_faults_are_told_apart(loss, fault, clip):
    sound = case(loss, 3, 7, clip=clip, momentum=0.9 if "shared_velocity" in fault else 0.0)
    assert agree(sound.compiled(), transcription(sound))
    assert not agree(sound.compiled(), transcription(sound, **fault))


@pytest.mark.parametrize("loss", LOSSES)
def test_one_rounding_too_many_is_seen(loss):
    sound = case(loss, 3, 7)
    assert not agree(sound.compiled() * (1 + 1e-11), transcription(sound))


@pytest.mark.parametrize("loss", LOSSES)
def test_clients_without_batches_stay(loss):
    idle = case(loss, 3, 5, widths=((), (2, 3), ()))
    answer = idle.compiled()
    np.testing.assert_array_equal(answer[[0, 2]], idle.start[[0, 2]])
    assert np.all(answer[1] != idle.start[1])
    nobody = case(loss, 3, 5, widths=((), ()))
    np.testing.assert_array_equal(nobody.compiled(), nobody.start)


@pytest.mark.parametrize("loss", LOSSES)
def test_scores_of_a_thousand(loss):
    far = case(loss, 3, 4)
    far = replace(far, start=1e3 * far.start, stepsize=1e-3)
    assert np.abs(far.A @ far.start[0].reshape(-1, 4).T).max() > 1e3
    assert np.isfinite(far.compiled()).all()
    assert agree(far.compiled(), transcription(far))


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("clip", [math.inf, 1e300])
def test_a_run_that_diverges_ends_beyond_all_numbers_and_leaves_the_others_alone(loss, clip):
    both = case(loss, 3, 5, widths=((4,) * 2000, (4,) * 10), clip=clip)
    both = replace(both, stepsize=1.0, ridge=np.array([9.0, 0.1]))
    answer = both.compiled()
    assert not np.isfinite(answer[0]).any() or np.abs(answer[0]).min() > 1e290
    assert np.isfinite(answer[1]).all()
    np.testing.assert_array_equal(answer[1], replace(both, ridge=np.array([0.0, 0.1])).compiled()[1])


def test_gradients_whose_squares_overflow_are_cut_to_the_length_asked_for():
    far = case("squares", 1, 3, widths=((2,),), terms=False, clip=2.0)
    far = replace(far, start=np.full((1, 3), 1e200), stepsize=1e200)
    assert np.linalg.norm((far.start - far.compiled()) / 1e200) == pytest.approx(2, rel=1e-12)


def test_exponential():
    points = np.concatenate([-np.geomspace(1e-300, 708, 4000), np.linspace(-708, 0, 4001), [-708.0, -0.0, 0.0]])
    with mp.workdps(40):
        for x in points:
            exact = mp.exp(mp.mpf(float(x)))
            assert abs(mp.mpf(module._exp(x)) - exact) <= 1.0 * math.ulp(float(exact))
    assert module._exp(0.0) == 1.0
    assert module._exp(-708.1) == module._exp(-math.inf) == 0.0
    assert math.isnan(module._exp(math.nan))


@pytest.mark.parametrize("loss", LOSSES)
def test_any_kind_of_array_will_do_and_none_is_changed(loss):
    usual = case(loss, 3, 5)
    strange = replace(usual, A=np.asfortranarray(usual.A), order=usual.order.astype(np.int32), start=usual.start[::1])
    copies = [np.copy(value) for value in strange.__dict__.values()]
    for value in strange.__dict__.values():
        if isinstance(value, np.ndarray):
            value.flags.writeable = False
    np.testing.assert_array_equal(strange.compiled(), usual.compiled())
    for value, copy in zip(strange.__dict__.values(), copies, strict=True):
        np.testing.assert_array_equal(value, copy)
    assert len(module._sgd.signatures) == 1


@pytest.mark.parametrize(
    ("argument", "value"),
    [("order", [0, 13]), ("order", [-1, 0]), ("bounds", [0, 3]), ("client_batches", [0, 2]), ("y", np.full(13, 3.0))],
)
def test_what_does_not_exist_is_not_fetched(argument, value):
    small = case("softmax", 3, 5, widths=((2,),))
    with pytest.raises(InvalidInput, match=argument):
        replace(small, **{argument: np.array(value)}).compiled()
