"""A setting in words: short phrases that say all that a claim assumes, with formulas in the paper's letters."""

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from fedconvex.claims.display.letters import RELATIONS, Display
from fedconvex.claims.display.plain_text import from_latex
from fedconvex.claims.terms import Number, number, parameter, without_names

if TYPE_CHECKING:
    from fedconvex.claims.claim import ClaimSetting, DrawScheme

SIGNS = {"positive": "> 0", "nonnegative": r"\ge 0", "real": r"\in\mathbb{R}"}


def phrases(setting: "ClaimSetting", display: Display, *, plain: bool = False) -> list[str]:
    """What the setting assumes; formulas are LaTeX between dollars, or plain text, and without names for their parts.

    Raises IllFormed where a symbol would mean two things.
    """
    at = replace(display, slashes=plain).with_legend
    found = list(_phrases(without_names(setting), at))
    return [re.sub(r"\$([^$]*)\$", lambda m: from_latex(m[1]), phrase) for phrase in found] if plain else found


def _phrases(setting: "ClaimSetting", display: Display) -> Iterator[str]:
    if setting.method or setting.method_parameters:
        yield f"the method is {setting.method or 'any one'}{_parameters(setting, display)}"
    yield from _curvature("every client's function", setting.curvature, display)
    yield from _curvature("the objective", setting.objective, display)
    if setting.bounded_below:
        yield "the objective is bounded below"
    if setting.minimiser:
        yield f"the objective has a minimiser ${display.letters.minimiser}$"
    if setting.method or setting.draws.scheme != "everyone":
        yield _draws(setting.draws, display)
    if setting.equal_weights:
        yield "the clients have equal weights"
    if setting.method or setting.answers != "own" or setting.gradient_steps:
        yield _answers(setting, display)
    for bound, phrase in (
        (setting.dissimilarity, "the clients' functions are $@$-dissimilar"),
        (setting.variance, r"the variance of the clients' gradients is $\le @$"),
        (setting.large_gradient, r"the squared norm of the objective's gradient is $\ge @$"),
    ):
        if bound is not None:
            yield f"{phrase.replace('@', display.noted(bound))} at the server's point before a round"
    if setting.initial_gap is not None:
        yield rf"the objective at the start is at most ${display.noted(setting.initial_gap)}$ above its infimum"
    if setting.objective_gap is not None:
        yield rf"the clients' infima have a mean at most ${display.noted(setting.objective_gap)}$ below the objective's"
    if setting.similarity is not None:
        yield rf"every client's Hessian is within ${display.noted(setting.similarity)}$ of the objective's"
    if setting.starts_at_own_minima:
        yield "each client's first model is a stationary point of its own function"
    if setting.single_client:
        yield "there is a single client"
    if setting.rests:
        yield "the state is a fixed point: a round leaves it as it is"
    if setting.first_round:
        yield "the round is the method's first one"
    for left, relation, right in setting.conditions:
        if left.head != "parameter" and right.head == "parameter":  # η ≤ 1 rather than 1 ≥ η
            left, relation, right = right, relation.replace(">", "<"), left
        yield f"${display.noted(left)} {RELATIONS[relation]} {display.noted(right)}$"
    yield from _ranges(setting, display)


def _parameters(setting: "ClaimSetting", display: Display) -> str:
    """The method's parameters; those that have a letter of their own are only named."""
    parts = []
    for name, value in sorted(setting.method_parameters.items()):
        words = name.replace("_", " ")
        if type(value) is not Number:
            parts.append(f"no {words}" if value is None else f"{words} '{value}'")
        else:
            own = value == parameter(name)
            parts.append(f"${display.noted(value)}$" if own else f"{words} ${display.noted(value)}$")
    return f" with {', '.join(parts)}" if parts else ""


def _curvature(of: str, bounds: tuple[Number | None, Number | None], display: Display) -> Iterator[str]:
    low, high = bounds
    if high is not None and low == -high:
        yield f"{of} is ${display.noted(high)}$-smooth"
        return
    if low == number(0):
        yield f"{of} is convex"
    elif low is not None and low.head == "parameter":
        yield f"{of} is ${display.noted(low)}$-strongly convex"
    elif low is not None:
        yield f"{of} has curvatures of at least ${display.noted(low)}$"
    if high is not None:
        smooth = low is not None and (low == number(0) or low.head == "parameter")
        yield (
            f"{of} is ${display.noted(high)}$-smooth"
            if smooth
            else (f"{of} has curvatures of at most ${display.noted(high)}$")
        )


def _draws(draws: "DrawScheme", display: Display) -> str:
    if draws.active is None:
        return "every client takes part in every round"
    active = display.noted(draws.active)
    if draws.clients is None:
        return f"${active}$ clients are drawn independently with probabilities $p_k$, and averaged plainly"
    return f"${active}$ of ${display.noted(draws.clients)}$ clients take part in a round, every set equally likely"


def _answers(setting: "ClaimSetting", display: Display) -> str:
    if setting.gradient_steps:
        steps, size = (display.noted(setting.gradient_steps[name]) for name in ("steps", "stepsize"))
        return f"clients take ${steps}$ gradient steps of size ${size}$ on their subproblems"
    if setting.inexactness is None:
        return "clients answer by the method's own local solver"
    bound = display.noted(setting.inexactness)
    if setting.answers == "error":
        return f"every answer is at most ${bound}$ from the subproblem's solution"
    return f"every answer is ${bound}$-inexact: its subproblem's gradient is at most ${bound}$ times that at the start"


def _ranges(setting: "ClaimSetting", display: Display) -> Iterator[str]:
    counts = [display.noted(parameter(name)) for name in sorted(setting.counts)]
    if counts:
        yield f"${', '.join(counts)}$ {'is a positive integer' if len(counts) == 1 else 'are positive integers'}"
    for sign, relation in SIGNS.items():
        said = setting.counts if sign == "positive" else ()
        names = [name for name, s in sorted(setting.signs.items()) if s == sign and name not in said]
        if names:
            yield f"${', '.join(display.noted(parameter(name)) for name in names)} {relation}$"
