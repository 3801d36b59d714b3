"""Statements, settings and runs that try to print something else beside PROVED than what was proved."""

import json
import pickle
from collections.abc import Callable, Iterator
from copy import deepcopy
from dataclasses import fields, replace
from fractions import Fraction as F
from itertools import islice
from typing import Any, NamedTuple

import pytest

import fedconvex as fc
from fedconvex.claims.claim import Claim, ClaimSetting, DrawScheme, at_most
from fedconvex.claims.methods import every_parameter, running
from fedconvex.claims.on_runs.admissibility import offences
from fedconvex.claims.on_runs.evaluation import NotOnThisRun
from fedconvex.claims.on_runs.federations import AnswerError, ExactFederation
from fedconvex.claims.on_runs.random_federations import random_federations
from fedconvex.claims.statements import Conditional
from fedconvex.claims.terms import (
    IllFormed,
    Number,
    gradient,
    mean,
    number,
    parameter,
    server,
    square,
    value,
)
from fedconvex.errors import InvalidInput
from fedconvex.methods import METHODS
from fedconvex.participation import Draw, Full, Stragglers, Uniform, Weighted
from fedconvex.proofs_checks import verify
from fedconvex.proofs_checks.claims import proof_of
from fedconvex.proofs_checks.export.json_proofs import from_json, to_json
from fedconvex.proofs_checks.kernel import Refused, theorem
from fedconvex.proofs_checks.kernel.proofs import Derivation, Nonnegative, Proved, Upper, facts
from fedconvex.proofs_checks.library import by, concluding, squared
from fedconvex.proofs_checks.remarks import Remarks, remarks_on
from fedconvex.statements.assumptions import Everyone, Runs, SmoothObjective
from fedconvex.statements.conditions import Condition
from fedconvex.statements.notation import CURVATURE, STEPSIZE, Parameter
from fedconvex.statements.statement import ClaimType, Paper
from fedconvex.theory import gower
from fedconvex.verdicts import Verdict

s, L = parameter("stepsize"), parameter("L")
SLOPE = square(mean(gradient(server(0))))
TRUE = at_most(0, 1)
DOWN = Derivation((concluding(TRUE, by(Nonnegative(number(1)))),))


KINDS = (Runs("FedSGD"), Everyone(), SmoothObjective("L"))


def decrease(rho: Any) -> Claim:
    return at_most(value(server(1)), value(server(0)) - rho * SLOPE)


@pytest.fixture
def paper(request: pytest.FixtureRequest) -> Paper:
    """A paper of the test's own."""
    name = "".join(c for c in request.node.name.lower() if c.isalnum())
    notation = {"stepsize": Parameter("s", "stepsize", STEPSIZE, above=0), "T": Parameter("T", "rounds", least=1),
                "L": Parameter("L", "smoothness", CURVATURE, above=0)}  # fmt: skip
    return Paper(name=name, short="X", reference="X", convention="a mean with weights", notation=notation)


def stated(paper: Paper, formula: Callable[..., Any], number: str = "Theorem 1", **more: Any) -> Any:
    about: dict[str, Any] = {
        "symbol": r"\rho", "relation": "=", "units": STEPSIZE, "states": decrease,
        "assumes": KINDS,
    }  # fmt: skip
    return paper.statement(number, ClaimType.UPPER, **(about | more))(formula)


# ---- settings


def unequal() -> ExactFederation:
    """One round from the minimiser, of one of two draws of two clients: the plain mean is no mean with the weights."""
    problem = fc.Quadratic([[[2]], [[4]], [[1]]], [[5], [-1], [-2]], [F(8, 15), F(1, 30), F(13, 30)])
    known = {"stepsize": F(1, 8), "mu": F(1), "L": F(4), "num_clients": F(3), "num_active": F(2)}
    return ExactFederation(problem, fc.FedGD(stepsize=F(1, 8)), [minimiser(problem)], Uniform(2), known)


def minimiser(problem: Any) -> F:
    """Of weighted quadratics on a line."""
    weights = problem.exact_weights
    slope = sum(w * F(int(c[0])) for w, c in zip(weights, problem.c, strict=True))
    return slope / sum(w * F(int(h[0][0])) for w, h in zip(weights, problem.H, strict=True))  # type: ignore[no-any-return]


def test_unequal_weights_break_a_claim_whose_setting_says_equal_weights() -> None:
    of, run = gower.one_round_uniform, unequal()
    assert replace(of.claim, within=None).on(run).holds is False
    assert [x.partition(":")[0] for x in offences(of.setting, run)] == ["equal_weights"]
    with pytest.raises(NotOnThisRun, match=r"equal_weights.*8/15, 1/30, 13/30"):
        of.claim.on(run)
    assert "the clients have equal weights" in str(of.setting)
    assert "equal weights" in " ".join(str(verify(of)).split())


def test_a_claim_keeps_its_setting_where_it_goes() -> None:
    claim = gower.one_round_uniform.claim
    for moved in (deepcopy(claim), pickle.loads(pickle.dumps(claim))):  # noqa: S301 - our own
        with pytest.raises(NotOnThisRun, match="equal_weights"):
            moved.on(unequal())


def test_a_counterexample_outside_of_the_setting_refutes_nothing(paper: Paper) -> None:
    of = replace(gower.one_round_uniform, paper=paper)
    paper.statements["x"] = of
    remarks_on(of)(lambda statement: Remarks(breaks=unequal))
    found = verify(of)
    assert found.verdict is Verdict.UNKNOWN
    assert "equal_weights" in found.reason


METHOD_FIELDS = [(name, f.name) for name in METHODS for f in fields(METHODS[name])]  # type: ignore[arg-type]


@pytest.mark.parametrize(("method", "name"), METHOD_FIELDS)
def test_a_setting_that_leaves_out_a_parameter_of_its_method_is_refused(method: str, name: str) -> None:
    whole = every_parameter(method, **{f.name: s for f in fields(METHODS[method])})  # type: ignore[arg-type]
    assert ClaimSetting(method=method, method_parameters=whole).method_parameters == whole
    rest = {n: x for n, x in whole.items() if n != name}
    with pytest.raises(IllFormed, match=f"leave out {name} of {method}"):
        ClaimSetting(method=method, method_parameters=rest)
    with pytest.raises(IllFormed, match="is no parameter of"):
        ClaimSetting(method=method, method_parameters={**whole, "nobody": s})


NO_NUMBERS = [0.1, True, 1, F(1, 8), float("nan"), [1], b"1", (s, s), {"s": s}]


@pytest.mark.parametrize("field", [f for f in fields(ClaimSetting) if f.name != "method"], ids=lambda f: f.name)
@pytest.mark.parametrize("wrong", NO_NUMBERS, ids=repr)
def test_a_field_of_a_setting_of_another_sort_is_refused(field: Any, wrong: Any) -> None:
    """In the field itself, and in the place of each of its entries."""
    usual: dict[str, Any] = {
        "method_parameters": {"stepsize": s, "local_steps": s}, "signs": {"s": "positive"}, "counts": frozenset({"s"}),
        "conditions": ((s, ">=", s),), "curvature": (s, s), "objective": (s, s), "example": {"s": F(1)},
        "gradient_steps": {"steps": s, "stepsize": s},
    }  # fmt: skip
    fits = {"curvature": (s, s), "objective": (s, s), "gradient_steps": {"s": s}}.get(field.name)
    is_right = wrong is True if type(field.default) is bool else wrong == fits
    whole = [] if is_right else [wrong]
    entries = (
        [] if wrong is True and field.name == "method_parameters" else with_one_entry(usual.get(field.name), wrong)
    )
    for changed in (*whole, *entries):  # a method's parameter may be an option that is yes or no
        with pytest.raises(IllFormed, match=f"^{field.name} = .* is no "):
            ClaimSetting(method="FedGD", **{"method_parameters": usual["method_parameters"], field.name: changed})


def with_one_entry(of: Any, wrong: Any) -> Iterator[Any]:
    """The same with a wrong entry in the place of one."""
    if isinstance(of, dict):
        yield from ({**of, name: wrong} for name in of if type(of[name]) is not type(wrong))
    elif isinstance(of, tuple):
        for i, entry in enumerate(of):
            inside = with_one_entry(entry, wrong) if isinstance(entry, tuple) else [wrong]
            yield from ((*of[:i], changed, *of[i + 1 :]) for changed in inside)


def test_a_text_is_no_formula_of_a_number() -> None:
    for text in ("0.1", "s", "1/(1 + t)"):
        with pytest.raises(IllFormed, match=r"method_parameters\[stepsize\] = .* is a text"):
            ClaimSetting(**running("FedGD", stepsize=text))


def test_the_kernel_refuses_a_setting_that_was_made_without_a_parameter() -> None:
    made = ClaimSetting(**running("Scaffold", stepsize=s), signs={"stepsize": "positive"}, example={"stepsize": F(1)})
    rest = {n: x for n, x in made.method_parameters.items() if n != "server_stepsize"}
    object.__setattr__(made, "method_parameters", rest)
    with pytest.raises(Refused, match="leave out server_stepsize of Scaffold"):
        theorem(made, TRUE, DOWN)
    with pytest.raises(InvalidInput, match="leave out server_stepsize of Scaffold"):
        from_json(to_json(made, TRUE, DOWN))


@pytest.mark.parametrize(("method", "scheme", "equal"), [
    ("FedGD", "uniform", True), ("FedGD", "independent", False), ("FedGD", "everyone", False),
    ("Scaffold", "uniform", False), ("Scaffold", "independent", True), ("", "uniform", True),
    ("", "independent", False),
])  # fmt: skip
def test_draws_that_need_equal_weights_say_so_whatever_is_given(method: str, scheme: str, equal: bool) -> None:
    K, m = parameter("K"), parameter("m")
    drawn = {"uniform": DrawScheme("uniform", K, m), "independent": DrawScheme("independent", K)}
    runs = running(method, stepsize=s) if method else {}
    made = ClaimSetting(**runs, draws=drawn.get(scheme, DrawScheme()), equal_weights=False)
    assert made.equal_weights is equal
    assert ("equal weights" in str(made)) is equal
    text = json.loads(to_json(made, TRUE, DOWN))
    text["setting"]["equal_weights"] = False
    assert from_json(json.dumps(text))[0].equal_weights is equal
    assert replace(made, draws=DrawScheme(), equal_weights=False).equal_weights is False


def test_a_proof_cites_no_statement_about_equal_weights_in_a_setting_without_them() -> None:
    given = {"signs": {"a": "positive"}, "example": {"a": F(1)}}
    other = (ClaimSetting(**given, equal_weights=True), TRUE, DOWN)  # type: ignore[arg-type]
    citing = Derivation((replace(DOWN.lines[0], facts=facts((1, Proved("other")))),))  # type: ignore[type-var]
    assert theorem(other[0], TRUE, citing, lambda _: other)
    with pytest.raises(Refused, match="its equal_weights"):
        theorem(ClaimSetting(**given), TRUE, citing, lambda _: other)  # type: ignore[arg-type]


def test_a_method_has_all_of_its_parameters_in_a_statement(paper: Paper) -> None:
    def rho(*, stepsize: Any, L: Any) -> Any:
        """A formula."""
        return stepsize - L * stepsize**2 / 2

    of = stated(paper, rho, assumes=(Runs("FedAvgM", local_steps=1), Everyone(), SmoothObjective("L")))
    assert of.setting.method_parameters == {
        "stepsize": s, "local_steps": number(1), "momentum": number(F(9, 10)), "server_stepsize": number(1),
        "nesterov": False,
    }  # fmt: skip
    assert "momentum 9/10" in str(of.setting)
    assert all(run.method.momentum == F(9, 10) for run in islice(random_federations(of.setting, of.claim), 3))  # type: ignore[attr-defined]


# ---- runs outside of a setting: a federation for each field


EXACT: dict[str, Any] = {
    "problem": fc.Quadratic([[[1]], [[2]]], [[1], [2]]), "method": fc.FedProx(mu=3), "start": [4],
    "parameters": {"mu": F(3), "L": F(2), "K": F(1)}, "first_models": [[1], [1]],
}  # fmt: skip
AT: dict[str, Any] = {
    **running("FedProx", mu=parameter("mu")), "signs": dict.fromkeys(("mu", "L", "K"), "positive"),
    "counts": frozenset({"K"}), "curvature": (number(0), L),
}  # fmt: skip
OUTSIDE: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {  # what the setting says, what the federation is
    "method": ({}, {"method": fc.FedDyn(alpha=3)}),
    "method_parameters": ({}, {"method": fc.FedProx(mu=4)}),
    "signs": ({}, {"parameters": {"mu": F(3), "L": F(2), "K": F(0)}}),
    "counts": ({}, {"parameters": {"mu": F(3), "L": F(2), "K": F(1, 2)}}),
    "conditions": ({"conditions": ((parameter("K"), ">", L),)}, {}),
    "curvature": ({}, {"parameters": {"mu": F(3), "L": F(3, 2), "K": F(1)}}),
    "objective": ({"objective": (None, number(1))}, {}),
    "answers": ({"answers": "error", "inexactness": number(1)}, {}),
    "inexactness": ({"answers": "error", "inexactness": number(1)},
                    {"answers": "error", "inexactness": F(2), "deviations": ((AnswerError(F(1), (F(1),)),) * 2,)}),
    "gradient_steps": ({"gradient_steps": {"steps": number(1), "stepsize": number(1)}}, {}),
    "draws": ({"draws": DrawScheme("independent", parameter("K"))}, {}),
    "equal_weights": ({"equal_weights": True},
                      {"problem": fc.Quadratic([[[1]], [[2]]], [[1], [2]], [F(1, 3), F(2, 3)])}),
    "minimiser": ({"minimiser": True, "curvature": (None, None)}, {"problem": fc.Quadratic([[[0]]] * 2, [[1], [2]])}),
    "bounded_below": ({"bounded_below": True, "curvature": (None, None)},
                      {"problem": fc.Quadratic([[[-1]]] * 2, [[1], [2]])}),
    "dissimilarity": ({"dissimilarity": number(1)}, {}),
    "variance": ({"variance": number(F(1, 100))}, {}),
    "large_gradient": ({"large_gradient": number(100)}, {}),
    "initial_gap": ({"initial_gap": number(1)}, {}),
    "objective_gap": ({"objective_gap": number(0)}, {"problem": fc.Quadratic([[[1]], [[2]]], [[1], [9]])}),
    "similarity": ({"similarity": number(F(1, 4))}, {}),
    "starts_at_own_minima": ({"starts_at_own_minima": True}, {"first_models": [[1], [3]]}),
    "single_client": ({"single_client": True}, {}),
    "rests": ({"rests": True}, {}),
    "first_round": ({"first_round": True}, {"earlier": (Draw(),)}),
}  # fmt: skip


def test_every_field_of_a_setting_is_checked() -> None:
    """An assumption that nothing checks could be broken by a counterexample, or by a run, without a word."""
    assert {f.name for f in fields(ClaimSetting)} == {*OUTSIDE, "example"}
    assert offences(ClaimSetting(**AT), ExactFederation(**EXACT)) == []


@pytest.mark.parametrize("field", OUTSIDE)
def test_a_federation_outside_of_a_setting_is_refused_by_the_fields_name(field: str) -> None:
    says, is_ = OUTSIDE[field]
    setting, run = ClaimSetting(**(AT | says)), ExactFederation(**(EXACT | is_))
    assert field in {x.partition(":")[0] for x in offences(setting, run)}
    with pytest.raises(NotOnThisRun, match=field):
        replace(TRUE, within=setting).on(run)
    if not says:  # and the same run is in the setting without that
        assert TRUE.on(run).holds


RUNS: dict[str, tuple[str, Callable[[Any], Any]]] = {
    "another method": ("method", lambda p: fc.simulate(fc.FedDyn(alpha=3), p, 2)),
    "another number of local steps": (
        "method_parameters", lambda p: fc.simulate(fc.FedGD(stepsize=0.1, local_steps=2), p, 2)),
    "unequal numbers of local steps": (
        "method_parameters", lambda p: fc.simulate(fc.FedGD(stepsize=0.1, local_steps=[1, 2, 3]), p, 2)),
    "steps that change": ("method_parameters", lambda p: fc.simulate(fc.FedGD(stepsize=[0.1, 0.2]), p, 2)),
    "another local solver": ("gradient_steps", lambda p: fc.simulate(
        fc.FedGD(stepsize=0.1), p, 2, local_solver=fc.GradientDescent(steps=1, stepsize=0.2))),
    "other draws": ("draws", lambda p: fc.simulate(fc.FedGD(stepsize=0.1), p, 2, participation=Weighted(2))),
    "late clients": ("draws", lambda p: fc.simulate(
        fc.FedGD(stepsize=0.1), p, 2, participation=Uniform(2), stragglers=Stragglers(F(1, 2)))),
    "weights": ("equal_weights", lambda p: fc.simulate(
        fc.FedGD(stepsize=0.1), fc.Quadratic(p.H, p.c, [0.2, 0.3, 0.5]), 2, participation=Uniform(2))),
}  # fmt: skip


@pytest.mark.parametrize("name", RUNS)
def test_a_simulated_run_outside_of_a_setting_is_refused(name: str) -> None:
    problem = fc.Quadratic([[[1]], [[2]], [[3]]], [[1], [2], [-1]])
    field, simulated = RUNS[name]
    claim = gower.one_round_uniform.claim
    with pytest.raises(NotOnThisRun, match=field):
        claim.on(simulated(problem))
    assert claim.on(fc.simulate(fc.FedGD(stepsize=0.1), problem, 2, participation=Uniform(2))).holds is not False
    assert claim.on(fc.simulate(fc.FedGD(stepsize=0.1), problem, 2, participation=Full())).holds is not False


# ---- formulas that are two


class Both(NamedTuple):
    """Two numbers."""

    first: Any
    second: Any


def of_terms(stepsize: Any, L: Any) -> Any:
    return stepsize - L * stepsize**2 / 2


TWO_FACED: dict[str, Callable[..., Any]] = {
    "of terms and numbers": lambda *, stepsize, L: of_terms(stepsize, L) if type(stepsize) is Number else stepsize,
    "of floats": lambda *, stepsize, L: stepsize if isinstance(stepsize, float) else of_terms(stepsize, L),
    "of what has a numerator": lambda *, stepsize, L: (
        stepsize if hasattr(stepsize, "numerator") else of_terms(stepsize, L)
    ),
    "of a term's name": lambda *, stepsize, L: (
        of_terms(stepsize, L) if getattr(stepsize, "args", ()) == ("stepsize",) else stepsize
    ),
}


@pytest.mark.parametrize("name", TWO_FACED)
def test_a_formula_that_looks_at_the_type_of_its_arguments_is_refused(paper: Paper, name: str) -> None:
    formula = TWO_FACED[name]
    formula.__doc__ = "A formula."
    with pytest.raises(InvalidInput, match="where it is displayed and proved"):
        stated(paper, formula)


def test_a_condition_that_looks_at_the_type_of_its_arguments_is_refused(paper: Paper) -> None:
    def bound(L: Any) -> Any:
        return 1 / L if type(L) is Number else 100 / L

    def rho(*, stepsize: Any, L: Any) -> Any:
        """A formula."""
        return of_terms(stepsize, L)

    with pytest.raises(InvalidInput, match="condition on stepsize"):
        stated(paper, rho, assumes=(*KINDS, Condition("stepsize", "<=", bound)))


STATES: dict[str, Callable[[Any], Any]] = {
    "another number": lambda rho: decrease(s / 2),
    "nothing of it": lambda rho: TRUE,
    "a condition on its own parameters": lambda rho: Conditional(decrease(rho), ((1 / L, ">=", s),)),
}


@pytest.mark.parametrize("name", STATES)
def test_a_claim_that_is_not_about_the_formula_is_refused(paper: Paper, name: str) -> None:
    def rho(*, stepsize: Any, L: Any) -> Any:
        """A formula."""
        return of_terms(stepsize, L)

    of = stated(paper, rho, states=STATES[name])
    proof_of(of)(lambda claim: Derivation((concluding(claim, by(Upper(server(1), server(0)))),)))
    for use in (lambda: of.claim, lambda: of.latex, lambda: str(of)):
        with pytest.raises(InvalidInput, match="states"):
            use()
    with pytest.raises(InvalidInput, match="states"):
        verify(of)


def test_what_is_displayed_is_what_is_proved(paper: Paper) -> None:
    """The function gets the formula's value once: it cannot return another claim for the display."""

    def rho(*, stepsize: Any, L: Any) -> Any:
        """A formula."""
        return of_terms(stepsize, L)

    calls: list[Any] = []

    def forging(of: Any) -> Claim:
        calls.append(of)
        return decrease(of) if len(calls) == 1 else decrease(100 * of)

    of = stated(paper, rho, states=forging)
    proof_of(of)(lambda claim: Derivation((concluding(claim, by(Upper(server(1), server(0)))),)))
    assert verify(of).verdict is Verdict.PROVED
    assert "100" not in of.latex + str(of) + str(of.claim) + str(verify(of))
    assert of.claim == decrease(of_terms(s, L))


# ---- parts


def test_parts_that_do_not_say_what_the_whole_says_prove_nothing(paper: Paper) -> None:
    def trivial(*, L: Any, T: Any) -> Any:
        """Nothing."""
        return 7 * L / T**4

    def claimed(bound: Any) -> Claim:
        return at_most(0 * bound, SLOPE)

    lemma = stated(paper, trivial, "Lemma 2", symbol="r", relation=r"\le", states=claimed)
    proof_of(lemma)(lambda claim: Derivation((concluding(claim, by(Upper(server(0), server(0)))),)))
    assumes, parts = KINDS, ("Lemma 2", "Lemma 2")
    for number_of, more in (("Theorem 1", {}), ("Theorem 2", {"states": (decrease, decrease)})):

        def whole(*, L: Any, T: Any) -> Both:
            """A rate."""
            return Both(7 * L / T**4, 7 * L / T**4)

        about: dict[str, Any] = {"assumes": assumes, "units": (STEPSIZE, STEPSIZE), "parts": parts, **more}
        of = paper.statement(number_of, ClaimType.ASYMPTOTIC, symbol=("a", "b"), relation=r"= O(\cdot)", **about)(whole)
        assert verify(of).verdict is Verdict.UNKNOWN


def rates(
    paper: Paper, *, states: Any = (decrease,), constant: Any = 2, assumes: Any = (), parts: Any = ("Lemma 1",)
) -> Any:
    """A statement of one part: a step of FedSGD decreases f by O(s − Ls²/2), with the constant 1 or less."""

    def part(*, stepsize: Any, L: Any) -> Any:
        """A part."""
        return (stepsize - L * stepsize**2 / 2) / constant

    def whole(*, stepsize: Any, L: Any) -> Any:
        """A rate."""
        return stepsize - L * stepsize**2 / 2

    lemma = stated(paper, part, "Lemma 1", assumes=(Runs("FedSGD"), Everyone(), SmoothObjective("L"),
                                                    Condition("stepsize", "<=", lambda L: 2 / L)))  # fmt: skip
    spare = (1 - 1 / number(constant)) * of_terms(s, L) * squared(mean(gradient(server(0))))
    proof_of(lemma)(lambda claim: Derivation((concluding(claim, by(Upper(server(1), server(0))) + spare),)))
    kinds = (Runs("FedSGD"), Everyone(), SmoothObjective("L"), *assumes)
    return paper.statement("Theorem 1", ClaimType.ASYMPTOTIC, symbol=r"\rho", relation=r"= O(\cdot)", assumes=kinds,
                           units=STEPSIZE, parts=parts, states=states)(whole)  # fmt: skip


LEMMA = ("Lemma 1",)


SHORT = Condition("stepsize", "<=", lambda L: 2 / L)


def test_a_formula_of_one_part_is_proved_by_it(paper: Paper) -> None:
    found = verify(rates(paper, assumes=(SHORT,)))
    assert found.verdict is Verdict.PROVED, found.reason


@pytest.mark.parametrize(("more", "reason"), [
    ({"states": None}, "does not say what each part"),
    ({"states": (decrease, decrease)}, "does not say what each part"),
    ({"states": (lambda rho: decrease(3 * rho),)}, "does not prove it"),
    ({"states": (lambda rho: at_most(value(server(0)), value(server(1)) - rho * SLOPE),)}, "does not prove it"),
    ({"assumes": ()}, "does not prove it"),  # the part's condition is missing
    ({"parts": ("Lemma 1", "Lemma 1")}, "1 parts, and there are 2"),
], ids=range(6))  # fmt: skip
def test_parts_that_do_not_fit_are_named(paper: Paper, more: dict[str, Any], reason: str) -> None:
    found = verify(rates(paper, **({"assumes": (SHORT,)} | more)))
    assert found.verdict is Verdict.UNKNOWN
    assert reason in found.reason


def test_a_part_that_is_not_proved_proves_nothing(paper: Paper) -> None:
    found = verify(rates(paper, constant=F(1, 2), assumes=(SHORT,)))
    assert found.verdict is Verdict.UNKNOWN
    assert "is not proved" in found.reason


# ---- words


@pytest.mark.parametrize("symbol", [r"f(x^t) \le 0,\quad \rho", r"1 = 2, \rho", r"\rho < 0", r"\text{all holds: }\rho"])
def test_a_symbol_that_says_something_is_refused(paper: Paper, symbol: str) -> None:
    def rho(*, stepsize: Any, L: Any) -> Any:
        """A formula."""
        return of_terms(stepsize, L)

    with pytest.raises(InvalidInput, match="is a relation, which nothing proves"):
        stated(paper, rho, symbol=symbol)


def test_a_bound_that_no_instance_attains_is_not_called_tight(paper: Paper) -> None:
    def rho(*, stepsize: Any, L: Any) -> Any:
        """A formula."""
        return of_terms(stepsize, L)

    of = paper.statement("Theorem 1", ClaimType.TIGHT, symbol=r"\rho", relation="=", units=STEPSIZE, states=decrease,
                         assumes=KINDS)(rho)  # fmt: skip
    proof_of(of)(lambda claim: Derivation((concluding(claim, by(Upper(server(1), server(0)))),)))
    assert "(X, Theorem 1; upper bound) is PROVED" in str(verify(of))
