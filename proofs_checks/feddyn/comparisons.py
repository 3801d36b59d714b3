"""FedDyn: what the running code computes beside the paper's definitions, on exact instances of one or two rounds."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any, NamedTuple

from fedconvex.proofs_checks.feddyn.exact_runs import Draws, Federation, mean

Formula = Callable[..., Any]


class BeforeARound(NamedTuple):
    """An instance before a round: the draws so far, θ^{t−1}, every device's model, and its answer θ̃_k^t."""

    federation: Federation
    draws: Draws
    point: Any
    models: list[Any]
    answers: list[Any]


def before_a_round(number: int) -> BeforeARound:
    """An instance after no round, or after one in which some of the devices took part."""
    federation = Federation.random(number)
    choices = [*federation.draws(0), *federation.draws(1)]
    draws = choices[number % len(choices)]
    point, models, answers = federation.state(draws)[0], federation.models(draws), federation.virtual(draws)
    return BeforeARound(federation, draws, point, models, answers)


def beside_the_answers(formula: Formula, number: int) -> tuple[Any, Any]:
    """R_k at each device's answer plus 1 and minus 1, which are equal exactly if the quadratic R_k is minimal there.

    As a last entry, the average of the drawn devices' answers, each drawn alone, and all of them drawn together.
    """
    federation, before, point, models, answers = before_a_round(number)
    stored = [federation.gradients(x)[k] for k, x in enumerate(models)]

    def objective(k: int, x: Any) -> Any:
        alpha, square = federation.alpha, (x - point) ** 2
        return formula(value=federation.value(k, x), linear=stored[k] * x, alpha=alpha, square=square)

    above, below = [[objective(k, x + e) for k, x in enumerate(answers)] for e in (1, -1)]
    chosen = federation.draws(1)[-1][0]
    return [*above, mean(answers[k] for k in chosen)], [*below, federation.average((*before, chosen))]


def gradients_at(point: Callable[[Federation], Any], formula: Formula, number: int) -> tuple[Any, Any]:
    """The mean of the devices' gradients at a point, and 0."""
    federation = Federation.random(number)
    return formula(gradients=federation.gradients(point(federation))), 0


def sums_at_the_start(formula: Formula, number: int) -> tuple[Any, Any]:
    """The mean of the devices' gradients, and their plain sum, at θ⁰."""
    federation = Federation.random(number)
    gradients = federation.gradients(federation.start)
    return formula(gradients=gradients), sum(gradients)


def after_a_round(federation: Federation) -> Any:
    return federation.state(federation.draws(1)[0])[0]


def of_one_gradient(number: int) -> tuple[Federation, Draws]:
    """An instance, and the draws so far: none, or one round's."""
    made = replace(Federation.random(number), one_gradient=True)
    choices = [*made.draws(0), *made.draws(1)]
    return made, choices[number % len(choices)]


def memories_by(number: int, everyone: bool) -> tuple[Any, Any]:
    """∇L_k(θ^{t−1}), and h_k^{t−1} − α(θ_k^t − θ^{t−1}): with θ̃_k^t, or as printed with θ_k^t of all devices."""
    made, before = of_one_gradient(number)
    point, _, memory = made.state(before)
    chosen, new = made.draws(1)[0][0], made.virtual(before)
    old = made.virtual(before[:-1]) if before else [made.start] * made.devices
    models = [new[k] if everyone or k in chosen else old[k] for k in range(made.devices)]
    return made.gradients(point), [h - made.alpha * (x - point) for h, x in zip(memory, models, strict=True)]
