"""The setting of a statement, read off its assumptions, so that what a theorem assumes is written once."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import reduce
from types import MappingProxyType
from typing import Any

from fedconvex.claims.claim import ClaimSetting, DrawScheme
from fedconvex.claims.examples import example_of
from fedconvex.claims.methods import every_parameter
from fedconvex.claims.terms import Number, number, parameter, parts
from fedconvex.statements import assumptions as known
from fedconvex.statements.assumptions.base import Assumption
from fedconvex.statements.conditions import Condition
from fedconvex.statements.notation import Parameter

Fields = dict[str, Any]


class NotASetting(Exception):
    """An assumption that settings cannot express; the statement's claim is then displayed but not proved."""


def setting_of(
    assumptions: tuple[Assumption, ...],
    conditions: tuple[Condition, ...],
    notation: Mapping[str, Parameter],
    parameters: Mapping[str, Parameter],
    uses: frozenset[str],
    chosen: Mapping[str, Number] = MappingProxyType({}),
    further: tuple[tuple[Number, str, Number], ...] = (),
) -> ClaimSetting:
    """What these assumptions and conditions say. Raises NotASetting.

    `parameters` are those of the statement's formulas; `notation` those of the paper, for the assumptions' own; `uses`
    are the operations in the claim, of which "minimiser" and "infimum" assume that there is one. What is `chosen` takes
    the place of the method's parameters of these names. `further` are conditions that are terms already. A parameter
    that is measured as the initial gap is that.
    """
    fields: Fields = {"low": [], "high": [], "weak": [], "conditions": list(further), "minimiser": "minimiser" in uses}
    fields["notation"] = {**notation, **parameters}
    fields["bounded_below"] = "infimum" in uses
    for assumption in assumptions:
        meaning = MEANINGS.get(type(assumption))
        if meaning is None:
            raise NotASetting(f"{type(assumption).__name__} has no meaning in a setting")
        meaning(assumption, fields)
    of_method = fields.get("method_parameters", {})
    fields["method_parameters"] = of_method | {name: x for name, x in chosen.items() if name in of_method}
    everything = [*conditions, *(c for a in assumptions for c in a.conditions)]
    # A condition on a quantity of the run is none on parameters; without it the claim says more.
    vectors = {name for name, p in parameters.items() if p.means is not None}
    everything = [c for c in everything if not vectors.intersection((c.argument, *c.names))]
    relations = [r for condition in dict.fromkeys(everything) for r in _relations(condition)] + fields.pop("conditions")
    low, high, weak, _ = (fields.pop(name) for name in ("low", "high", "weak", "notation"))
    weak += [-high[0]] if high else []  # smoothness bounds the curvature from below, too
    low += [reduce(Number.max, weak)] if weak and not low else []
    curvature = (low[-1] if low else None, high[0] if high else None)
    made = ClaimSetting(curvature=curvature, conditions=tuple(relations), **fields)
    used = _parameters(made) | {n for n, p in parameters.items() if p.means is None and n in notation}
    ranges = {name: parameters.get(name, notation.get(name)) for name in sorted(used)}
    if missing := [name for name, p in ranges.items() if p is None]:
        raise NotASetting(f"{missing[0]} has no entry in the notation")
    found = {name: p for name, p in ranges.items() if p is not None}
    made = replace(
        made,
        signs={name: _sign(p) for name, p in found.items()},
        counts=frozenset(name for name, p in found.items() if p.integer and (p.least or 0) >= 1),
        conditions=(*made.conditions, *(c for name, p in found.items() for c in _range(name, p))),
    )
    for name in (name for name, p in found.items() if p.measured == "initial_gap"):
        made = replace(made, initial_gap=parameter(name), bounded_below=True)
    return replace(made, example=example_of(made))


def _parameters(setting: ClaimSetting) -> set[str]:
    return {p.args[0] for side in setting.formulas for p in parts(side) if type(p) is Number and p.head == "parameter"}


def _sign(of: Parameter) -> str:
    lowest = of.least if of.above is None else of.above
    if lowest is None or lowest < 0:
        return "real"
    return "positive" if of.above is not None or lowest > 0 else "nonnegative"


def _range(name: str, of: Parameter) -> list[tuple[Number, str, Number]]:
    """The part of the parameter's range that its sign does not say."""
    found = [(parameter(name), ">=", number(of.least))] if of.least else []
    found += [(parameter(name), ">", number(of.above))] if of.above else []
    return found + ([] if of.most is None else [(number(of.most), ">=", parameter(name))])


def _relations(condition: Condition) -> list[tuple[Number, str, Number]]:
    """The condition with the larger side first, and without maxima: x ≥ max(a, b) is two relations."""
    if condition.by_definition:
        return []
    bound = number(condition.bound_at({name: parameter(name) for name in condition.names}))
    x = parameter(condition.argument)
    if condition.relation in ("<", "<="):
        return [(bound, condition.relation.replace("<", ">"), x)]
    bounds = _of_maximum(bound) if condition.relation in (">", ">=") else [bound]
    return [(x, condition.relation, b) for b in bounds]


def _of_maximum(bound: Number) -> list[Number]:
    if bound.head != "max":
        return [bound]
    return [b for part in bound.args for b in _of_maximum(part)]


# What each assumption adds to the setting.


def _runs(assumption: known.Runs, fields: Fields) -> None:
    """Each parameter of the method: fixed, or named as in the paper's notation, or what the method has by default."""
    fields["method"] = assumption.method
    names = {name: OTHER_NAMES.get(name, name) for name in assumption.parameters_of_method}
    if not names:
        return
    known = {name: parameter(letter) for name, letter in names.items() if letter in fields["notation"]}
    steps = {} if assumption.local_steps is None else {"local_steps": assumption.local_steps}
    found = every_parameter(assumption.method, **{**known, **steps, **dict(assumption.fixed)})
    fields["method_parameters"] = found | fields.get("method_parameters", {})


OTHER_NAMES: Mapping[str, str] = {"regularization": "regularizer"}
"""What papers call parameters of methods, where that is another name."""


def _matched(assumption: known.MatchedStepsize, fields: Fields) -> None:
    mu, kappa = parameter("mu"), parameter("kappa")
    fields["low"].append(mu)
    fields["high"].append(kappa * mu)
    fields.setdefault("method_parameters", {})["stepsize"] = 1 / (mu * kappa.sqrt())


def _method_parameter(assumption: known.ProximalWeight | known.StepsizeIs, fields: Fields) -> None:
    required = assumption.required()
    value = number(required.bound_at({name: parameter(name) for name in required.names}))
    fields.setdefault("method_parameters", {})[required.argument] = value


def _proximal_stepsize(assumption: known.ProximalStepsize, fields: Fields) -> None:
    fields.setdefault("method_parameters", {})["mu"] = 1 / parameter(assumption.stepsize)


def _gradient_steps(assumption: known.GradientStepsFromCenter, fields: Fields) -> None:
    """The subproblem F_k + ‖· − v‖²/(2s) is 1/s times the one that the paper's α is for."""
    mu, L, s = parameter("mu"), parameter("kappa") * parameter("mu"), fields["method_parameters"]["stepsize"]
    fields["gradient_steps"] = {"steps": parameter("local_steps"), "stepsize": s / (1 + s * (mu + L) / 2)}


def _steps_of_size(assumption: known.GradientSteps, fields: Fields) -> None:
    size = parameter(assumption.local_stepsize) * parameter(assumption.stepsize)
    fields["gradient_steps"] = {"steps": parameter(assumption.local_steps), "stepsize": size}


def _set(name: str, value: Callable[[Any], Any]) -> Callable[[Any, Fields], None]:
    return lambda assumption, fields: fields.__setitem__(name, value(assumption))


def _answers(kind: str, size: Callable[[Any], str]) -> Callable[[Any, Fields], None]:
    return lambda assumption, fields: fields.update(answers=kind, inexactness=parameter(size(assumption)))


def _add(name: str, value: Callable[[Any], Any]) -> Callable[[Any, Fields], None]:
    return lambda assumption, fields: fields[name].append(value(assumption))


def _of_objective(fields: Fields, least: Number | None, most: Number | None) -> None:
    """Bounds of the objective's curvature; strong convexity says more of the least one than smoothness."""
    known_least, known_most = fields.get("objective", (None, None))
    stronger = known_least is None or known_least.head == "neg"
    fields["objective"] = (least if stronger else known_least, known_most if most is None else most)


def _nothing(assumption: Assumption, fields: Fields) -> None:
    """A condition on parameters, which `Assumption.conditions` has."""


MEANINGS: Mapping[type, Callable[[Any, Fields], None]] = {
    known.Runs: _runs,
    known.Smooth: _add("high", lambda a: parameter(a.L)),
    known.Convex: lambda a, fields: fields["low"].insert(0, number(0)),
    known.StronglyConvex: _add("low", lambda a: parameter(a.mu)),
    known.BoundedNegativeCurvature: _add("weak", lambda a: -parameter(a.L_minus)),
    known.MatchedStepsize: _matched,
    known.ProximalWeight: _method_parameter,
    known.StepsizeIs: _method_parameter,
    known.ProximalStepsize: _proximal_stepsize,
    known.SmoothObjective: lambda a, fields: _of_objective(fields, -parameter(a.L), parameter(a.L)),
    known.StronglyConvexObjective: lambda a, fields: _of_objective(fields, parameter(a.mu), None),
    known.ExactSolutions: _nothing,
    known.Inexactness: _answers("inexact", lambda a: a.gamma),
    known.InexactnessOfEach: _answers("inexact", lambda a: "gamma"),  # claims know the largest of the clients' own
    known.ProxError: _answers("error", lambda a: a.b),
    known.GradientStepsFromCenter: _gradient_steps,
    known.GradientSteps: _steps_of_size,
    known.Everyone: _nothing,
    known.SampledUniformly: _set(
        "draws", lambda _: DrawScheme("uniform", parameter("num_active"), parameter("num_clients"))
    ),
    known.SampledIID: _set("draws", lambda a: DrawScheme("independent", parameter(a.K))),
    known.Dissimilarity: _set("dissimilarity", lambda a: parameter(a.B)),
    known.DissimilarityAlongTheRun: _set("dissimilarity", lambda a: parameter(a.B)),
    known.BoundedVariance: _set("variance", lambda a: parameter(a.sigma2)),
    known.BoundedGradients: _set("variance", lambda a: parameter(a.G) ** 2),  # which it implies
    known.BoundedVarianceEverywhere: _set("variance", lambda a: parameter(a.sigma2)),
    known.LargeGradient: _set("large_gradient", lambda a: parameter(a.epsilon)),
    known.ObjectiveGap: _set("objective_gap", lambda a: parameter(a.Gamma)),
    known.SimilarHessians: _set("similarity", lambda a: parameter(a.delta)),
    known.NotStationary: _nothing,
    known.StepOf: _nothing,
    known.StartsAtLocalMinima: _set("starts_at_own_minima", lambda a: True),
    known.SingleClient: _set("single_client", lambda a: True),
    known.AtFixedPoint: _set("rests", lambda a: True),
    known.Given: _nothing,
}
