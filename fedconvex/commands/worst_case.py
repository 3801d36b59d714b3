"""The command `fedconvex worst-case`: a method's exact worst case over a class of clients, an interval with proof."""

import math
from dataclasses import MISSING, fields
from enum import StrEnum
from fractions import Fraction
from typing import TYPE_CHECKING, Annotated, Any

import typer

from fedconvex.commands.terminal import say
from fedconvex.errors import InvalidInput
from fedconvex.json_files import to_json

if TYPE_CHECKING:
    from fedconvex.methods.base import Method
    from fedconvex.proofs_checks.worst_cases.questions.function_classes import FunctionClass

WORST_CASE_HELP = """The worst case of a method over all clients of a class, as an interval with proof.

[bold]fedconvex worst-case fedsplit:stepsize=1/2 --mu 1 --L 4[/bold]
[bold]fedconvex worst-case fedprox:mu=2 --L 1 --metric descent --dissimilarity 3/2[/bold]
[bold]fedconvex worst-case fedgd:stepsize=1/4,local_steps=5 --mu 1 --L 4 --heterogeneity 1 --draw weighted:3[/bold]

--mu and --L describe the clients' functions; the method's own parameters follow its name. Defaults: stepsize 1/L \
(FedSplit: 1/√(mu·L)), mu and alpha L. One bound of the interval is proved by exact multipliers of inequalities; the \
other is attained by a federation on which the method was simulated, or by the values and inner products of functions \
of the class. Exit status: 0 a bound is proved, 1 there is none or none was found, 2 wrong input."""


class Metric(StrEnum):
    """The measure of the worst case, as a ratio: see `worst_case_text.MEANINGS`."""

    distance = "distance"
    lifted_distance = "lifted_distance"
    gap = "gap"
    gradient_norm = "gradient_norm"
    descent = "descent"
    bias = "bias"
    gap_ratio = "gap_ratio"
    average_gap = "average_gap"
    mean_gap = "mean_gap"
    mean_gradient_norm = "mean_gradient_norm"


CLIENTS, QUESTION = "Clients", "Question"


def worst_case(
    method: Annotated[
        str,
        typer.Argument(
            metavar="METHOD", help="fedgd:stepsize=1/20,local_steps=10, fedprox:mu=2, fedsplit, feddyn:alpha=3, …"
        ),
    ],
    L: Annotated[str, typer.Option("--L", help="The clients' functions are L-smooth.", rich_help_panel=CLIENTS)],
    mu: Annotated[str, typer.Option(help="They are mu-strongly convex; 0: convex.", rich_help_panel=CLIENTS)] = "0",
    L_minus: Annotated[
        str | None,
        typer.Option("--L-minus", help="They may be nonconvex: curvatures at least -L_minus.", rich_help_panel=CLIENTS),
    ] = None,
    quadratic: Annotated[
        bool, typer.Option("--quadratic", help="They are quadratic.", rich_help_panel=CLIENTS)
    ] = False,
    delta: Annotated[
        str | None,
        typer.Option(help="Their Hessians differ by at most δ from the objective's.", rich_help_panel=CLIENTS),
    ] = None,
    clients: Annotated[
        str, typer.Option(help="Their number, or any; the cost does not depend on it.", rich_help_panel=CLIENTS)
    ] = "any",
    rounds: Annotated[int, typer.Option(help="The number of rounds T.", rich_help_panel=QUESTION)] = 1,
    metric: Annotated[
        Metric | None,
        typer.Option(help="The measure (default: distance; FedSplit: lifted_distance).", rich_help_panel=QUESTION),
    ] = None,
    dissimilarity: Annotated[
        str | None, typer.Option(help="B of FedProx's Definition 3 at the initial point.", rich_help_panel=QUESTION)
    ] = None,
    heterogeneity: Annotated[
        str,
        typer.Option(help="ζ: adds ζ·mean‖∇F_k(x*)‖² to the normaliser.", rich_help_panel=QUESTION),
    ] = "0",
    spread: Annotated[
        str | None,
        typer.Option(
            help="mean_gradient_norm: adds this times mean‖θ_k⁰ − w_0‖², with ∇F_k(θ_k⁰) = 0, to the normaliser.",
            rich_help_panel=QUESTION,
        ),
    ] = None,
    noise: Annotated[
        str | None,
        typer.Option(
            help="Gradients of local steps have unbiased noise; adds this times its variance σ² to the normaliser.",
            rich_help_panel=QUESTION,
        ),
    ] = None,
    gamma: Annotated[
        str | None,
        typer.Option(
            help="γ: local solutions are any γ-inexact ones (FedProx's Definition 1).", rich_help_panel=QUESTION
        ),
    ] = None,
    draw: Annotated[
        str | None,
        typer.Option(
            help="Sampled clients: uniform:K (no replacement), weighted:K (i.i.d.), bernoulli:p (each).",
            rich_help_panel=QUESTION,
        ),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object, and nothing else.")] = False,
) -> None:
    """Compute the worst case with `fedconvex.proofs_checks.worst_case` and print it."""
    from fedconvex.audit.methods import explanation
    from fedconvex.commands.worst_case_text import lines, to_dictionary
    from fedconvex.local_solvers.inexactness import ToInexactness
    from fedconvex.proofs_checks import worst_case as compute
    from fedconvex.validation import exact_number

    functions = _functions(
        exact_number(mu, "--mu"), exact_number(L, "--L"), L_minus and exact_number(L_minus, "--L-minus"), quadratic,
        delta and exact_number(delta, "--delta"),
    )  # fmt: skip
    chosen = parse_method(method, functions)
    measured = metric.value if metric else ("lifted_distance" if type(chosen).__name__ == "FedSplit" else "distance")
    found = compute(
        chosen, functions, count_of(clients), rounds, measured,
        None if dissimilarity is None else exact_number(dissimilarity, "--dissimilarity"),
        exact_number(heterogeneity, "--heterogeneity"), participation=scheme_of(draw),
        local_solver=None if gamma is None else ToInexactness(exact_number(gamma, "--gamma")),
        spread=None if spread is None else exact_number(spread, "--spread"),
        noise=None if noise is None else exact_number(noise, "--noise"),
    )  # fmt: skip
    if note := explanation(method):
        say(note, err=as_json)
    if as_json:
        say(to_json(to_dictionary(found, clients)))
    else:
        for line in lines(found, clients):
            say(line)
    if found.certificate is None:
        raise typer.Exit(1)


def parse_method(text: str, functions: "FunctionClass") -> "Method":
    """A method from `name` or `name:parameter=value,…`; missing parameters are chosen from the class's constants."""
    from fedconvex.audit.methods import integer_or_same, read_parameters

    kind, given = read_parameters(text)
    for f in fields(kind):  # type: ignore[arg-type]
        if f.name not in given and f.default is MISSING:
            given[f.name] = _default(f.name, kind.__name__, functions)
    return kind(**{name: integer_or_same(value) for name, value in given.items()})


def _default(parameter: str, kind: str, functions: "FunctionClass") -> Fraction:
    L, low = functions.highest, functions.lowest
    if parameter == "stepsize" and kind == "FedSplit" and low > 0:
        return Fraction(f"{1 / math.sqrt(low * L):.3g}")
    defaults = {"stepsize": 1 / L, "mu": L, "alpha": L, "eta": 1 / L}
    if parameter not in defaults:
        raise InvalidInput("method", kind, f"needs {parameter}", f"write {kind.lower()}:{parameter}=…")
    return defaults[parameter]


def _functions(mu: Fraction, L: Fraction, L_minus: Any, quadratic: bool, delta: Any) -> "FunctionClass":
    from fedconvex.proofs_checks.worst_cases.questions import function_classes as classes

    if delta is not None:
        if not mu or quadratic or L_minus is not None:
            raise InvalidInput(
                "--delta", delta, "is for strongly convex clients", "give --mu; leave out --L-minus, --quadratic"
            )
        return classes.SimilarClients(mu, L, delta)
    if L_minus is not None:
        if mu or quadratic:
            raise InvalidInput(
                "--L-minus", L_minus, "is for clients that need not be convex", "leave out --mu, --quadratic"
            )
        return classes.WeaklyConvex(L_minus, L)
    if quadratic:
        return classes.Quadratics(mu, L)
    return classes.SmoothStronglyConvex(mu, L) if mu else classes.SmoothConvex(L)


def count_of(text: str) -> int | str:
    """The number of clients."""
    if text == "any":
        return text
    if not text.isdigit():
        raise InvalidInput("--clients", text, "is no number of clients", "give 1, 2, … or any")
    return int(text)


def scheme_of(text: str | None) -> Any:
    """The participation scheme."""
    from fedconvex.participation import Bernoulli, Uniform, Weighted
    from fedconvex.validation import exact_number

    if text is None:
        return None
    name, _, number = text.partition(":")
    if name == "bernoulli":
        return Bernoulli(exact_number(number, "--draw"))
    if name not in ("uniform", "weighted") or not number.isdigit():
        raise InvalidInput("--draw", text, "is no scheme", "give uniform:K, weighted:K or bernoulli:p")
    return Uniform(int(number)) if name == "uniform" else Weighted(int(number))
