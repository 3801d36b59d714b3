"""The command `fedconvex worst-case`: a method's exact worst case over a class of clients, an interval with proof."""

import json
import math
from dataclasses import MISSING, fields
from enum import StrEnum
from fractions import Fraction
from typing import TYPE_CHECKING, Annotated, Any

import typer

from fedconvex.arithmetic.decimals import Rounding, significant, to_text
from fedconvex.errors import InvalidInput

if TYPE_CHECKING:
    from fedconvex.methods.base import Method
    from fedconvex.proofs_checks import WorstCase
    from fedconvex.proofs_checks.worst_cases.looseness.factor import Looseness
    from fedconvex.proofs_checks.worst_cases.questions.function_classes import FunctionClass
    from fedconvex.proofs_checks.worst_cases.questions.question import Question

DIGITS = 12
LEAST = Fraction(1, 10**9)  # of the largest: smaller multipliers are only counted
LONGEST = 24  # characters of a fraction that is printed as it is
WORST_CASE_HELP = """The worst case of a method over all clients of a class, as an interval with proof.

[bold]fedconvex worst-case fedsplit:stepsize=1/2 --mu 1 --L 4[/bold]
[bold]fedconvex worst-case fedprox:mu=2 --L 1 --metric descent --dissimilarity 3/2[/bold]
[bold]fedconvex worst-case fedgd:stepsize=1/4,local_steps=5 --mu 1 --L 4 --heterogeneity 1 --draw weighted:3[/bold]

--mu and --L describe the clients' functions; the method's own parameters follow its name. Defaults: stepsize 1/L \
(FedSplit: 1/√(mu·L)), mu and alpha L. One bound of the interval is proved by exact multipliers of inequalities; the \
other is attained by a federation on which the method was simulated, or by the values and inner products of functions \
of the class. Exit status: 0 a bound is proved, 1 there is none or none was found, 2 wrong input."""


class Metric(StrEnum):
    """The measure of the worst case, as a ratio: see `MEANINGS`."""

    distance = "distance"
    lifted_distance = "lifted_distance"
    gap = "gap"
    gradient_norm = "gradient_norm"
    descent = "descent"
    average_gap = "average_gap"
    mean_gap = "mean_gap"
    mean_gradient_norm = "mean_gradient_norm"


MEANINGS = {
    "distance": "‖w_T − x*‖² / {start}",
    "lifted_distance": "Σ‖z_k − z_k*‖² after the rounds / before",
    "gap": "(f(w_T) − f*) / {start}",
    "gradient_norm": "‖∇f(w_T)‖² / {start}",
    "descent": "(f(w) − f(w⁺)) / ‖∇f(w)‖², at least",
    "average_gap": "(f(mean of γ^t, t < T) − f*) / {start}, γ^0 = w_0 and γ^t the clients' average in round t",
    "mean_gap": "mean of f(γ^t) − f*, t < T / {start}, γ^0 = w_0 and γ^t the clients' average in round t",
    "mean_gradient_norm": "mean of ‖∇f(γ^t)‖², t < T / {least}, γ^0 = w_0 and γ^t the clients' average in round t",
}
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
    gamma: Annotated[
        str | None,
        typer.Option(
            help="γ: local solutions are any γ-inexact ones (FedProx's Definition 1).", rich_help_panel=QUESTION
        ),
    ] = None,
    draw: Annotated[
        str | None,
        typer.Option(
            help="Sampled clients: uniform:K (no replacement) or weighted:K (i.i.d.).",
            rich_help_panel=QUESTION,
        ),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object, and nothing else.")] = False,
) -> None:
    """Compute the worst case with `fedconvex.proofs_checks.worst_case` and print it."""
    from fedconvex.commands.bounds.parameters import number
    from fedconvex.local_solvers.inexactness import ToInexactness
    from fedconvex.proofs_checks import worst_case as compute

    functions = _functions(number("--mu", mu), number("--L", L), L_minus and number("--L-minus", L_minus), quadratic)
    chosen = parse_method(method, functions)
    measured = metric.value if metric else ("lifted_distance" if type(chosen).__name__ == "FedSplit" else "distance")
    found = compute(
        chosen, functions, _count(clients), rounds, measured,
        None if dissimilarity is None else number("--dissimilarity", dissimilarity),
        number("--heterogeneity", heterogeneity), participation=_scheme(draw),
        local_solver=None if gamma is None else ToInexactness(number("--gamma", gamma)),
        spread=None if spread is None else number("--spread", spread),
    )  # fmt: skip
    if as_json:
        typer.echo(json.dumps(to_dictionary(found, clients), indent=1, allow_nan=False, ensure_ascii=False))
    else:
        for line in lines(found, clients):
            typer.echo(line)
    if found.certificate is None:
        raise typer.Exit(1)


def parse_method(text: str, functions: "FunctionClass") -> "Method":
    """A method from `name` or `name:parameter=value,…`; missing parameters are chosen from the class's constants."""
    from fedconvex.commands.bounds.parameters import number
    from fedconvex.methods import METHODS

    known = {name.lower(): kind for name, kind in METHODS.items()}
    name, _, rest = text.strip().partition(":")
    if name.lower() not in known:
        raise InvalidInput("method", text, "is unknown", f"choose one of {', '.join(known)}")
    kind = known[name.lower()]
    given: dict[str, Any] = {}
    allowed = {f.name: f for f in fields(kind) if not isinstance(f.default, str)}  # type: ignore[arg-type]
    for part in filter(None, rest.split(",")):
        key, separator, value = (piece.strip() for piece in part.partition("="))
        if key not in allowed:
            raise InvalidInput("method", text, f"{key!r} is no parameter of it", f"give {'=…, '.join(allowed)}=…")
        if not separator:
            raise InvalidInput("method", text, f"{key} has no value", f"give {name}:{key}=NUMBER")
        exact = number(key, value)
        given[key] = int(exact) if exact.denominator == 1 else exact
    for name_, f in allowed.items():
        if name_ not in given and f.default is MISSING:
            given[name_] = _default(name_, kind.__name__, functions)
    method: Method = kind(**given)
    return method


def _default(parameter: str, kind: str, functions: "FunctionClass") -> Fraction:
    L, low = functions.highest, functions.lowest
    if parameter == "stepsize" and kind == "FedSplit" and low > 0:
        return Fraction(f"{1 / math.sqrt(low * L):.3g}")
    defaults = {"stepsize": 1 / L, "mu": L, "alpha": L, "eta": 1 / L}
    if parameter not in defaults:
        raise InvalidInput("method", kind, f"needs {parameter}", f"write {kind.lower()}:{parameter}=…")
    return defaults[parameter]


def _functions(mu: Fraction, L: Fraction, L_minus: Any, quadratic: bool) -> "FunctionClass":
    from fedconvex.proofs_checks.worst_cases.questions import function_classes as classes

    if L_minus is not None:
        if mu or quadratic:
            raise InvalidInput(
                "--L-minus", L_minus, "is for clients that need not be convex", "leave out --mu, --quadratic"
            )
        return classes.WeaklyConvex(L_minus, L)
    if quadratic:
        return classes.Quadratics(mu, L)
    return classes.SmoothStronglyConvex(mu, L) if mu else classes.SmoothConvex(L)


def _count(text: str) -> int | str:
    if text == "any":
        return text
    if not text.isdigit():
        raise InvalidInput("--clients", text, "is no number of clients", "give 1, 2, … or any")
    return int(text)


def _scheme(text: str | None) -> Any:
    from fedconvex.participation import Uniform, Weighted

    if text is None:
        return None
    name, _, K = text.partition(":")
    if name not in ("uniform", "weighted") or not K.isdigit():
        raise InvalidInput("--draw", text, "is no scheme", "give uniform:K or weighted:K")
    return Uniform(int(K)) if name == "uniform" else Weighted(int(K))


def lines(found: "WorstCase", clients: str) -> list[str]:
    """The worst case for a terminal."""
    from fedconvex.audit.methods import describe

    question = found.question
    written = [
        f"{describe(question.method)}, {question.rounds} round{'s' * (question.rounds > 1)}; "
        f"{clients} client{'s' * (clients != '1')}, {_described(question.clients)}",
        f"{question.metric}: {meaning(question)}",
        *interval_lines(found, question.metric),
        found.says,
    ]
    return written + _multipliers(found) + _federation(found)


def meaning(question: "Question") -> str:
    """The formula of the metric, with its normaliser."""
    given = _counted(question.heterogeneity, "mean‖∇F_k(w_0)‖²") + _counted(question.spread or 0, "mean‖θ_k⁰ − w_0‖²")
    least = f"(f(w_0) − inf f{given})"
    return MEANINGS[question.metric].format(start=_start(question.heterogeneity), least=least)


def interval_lines(found: "WorstCase | Looseness", metric: str) -> list[str]:
    """The worst case in one line, or its lower and upper bound."""
    lower, upper = found.lower, found.upper
    if lower == upper:
        return [f"worst: {_exactly(lower, Rounding.NEAREST)}"]
    apart = f"; {float(upper - lower):.1e} apart" if math.isfinite(upper) and math.isfinite(lower) else ""
    which = ("proved", "attained") if metric == "descent" else ("attained", "proved")
    return [f"worst: at least {_exactly(lower, Rounding.FLOOR)} ({which[0]})",
            f"       at most  {_exactly(upper, Rounding.CEILING)} ({which[1]}){apart}"]  # fmt: skip


def _exactly(value: Any, rounding: Rounding) -> str:
    text, digits = _all_digits(value), _digits(value, rounding)
    return digits if len(text) > LONGEST or text == digits else f"{text} = {digits}" if "/" in text else text


def _multipliers(found: "WorstCase") -> list[str]:
    if not found.multipliers:
        return []
    least = max(found.multipliers.values()) * LEAST
    shown = {name: value for name, value in found.multipliers.items() if value >= least}
    width, rest = max(map(len, shown)), len(found.multipliers) - len(shown)
    points = "; point 0 is the minimiser" * found.question.board.minimiser
    return [
        f"multipliers of the interpolation inequalities at point j, from point i{points}",
        *(f"  {name:<{width}}  {_written(value)}" for name, value in shown.items()),
        *([f"  and {rest} more, each less than {to_text(least, 2, Rounding.CEILING)}"] if rest else []),
    ]


def _described(functions: "FunctionClass") -> str:
    low, high = functions.lowest, functions.highest
    kind = f"{low}-strongly convex" if low > 0 else "convex" if low == 0 else f"{-low}-weakly convex"
    return f"{kind}, {high}-smooth" + ", quadratic" * (type(functions).__name__ == "Quadratics")


def _federation(found: "WorstCase") -> list[str]:
    if found.instance is None or not found.is_played:
        return []
    problem, start = found.instance.problem, found.instance.start
    rows = ["federation: F_k(x) = ½xᵀH_k x − c_kᵀx, half of the clients of each type; starts at x_k"]
    for k in range(problem.num_clients):
        H = "; ".join(" ".join(map(_written, row)) for row in problem.H[k])
        c, x = (" ".join(map(_written, vector)) for vector in (problem.c[k], start[min(k, len(start) - 1)]))
        rows.append(f"  H_{k + 1} = [{H}], c_{k + 1} = [{c}], x_{k + 1} = [{x}]")
    return rows


def to_dictionary(found: "WorstCase", clients: str) -> dict[str, Any]:
    """The worst case for JSON: exact numbers as fractions, infinite and unknown ones as null."""
    from fedconvex.audit.methods import describe

    question = found.question
    played = found.instance is not None and found.is_played
    return {
        "method": describe(question.method),
        "class": _described(question.clients),
        "clients": clients,
        "rounds": question.rounds,
        "metric": question.metric,
        "lower": _exact(found.lower),
        "upper": _exact(found.upper),
        "proved": _exact(found.proved),
        "attained": _exact(found.attained),
        "played": played,
        "says": found.says,
        "multipliers": {name: str(value) for name, value in found.multipliers.items()},
        "power": found.power,
        "federation": None if not played or found.instance is None else {
            "H": [[[str(x) for x in row] for row in H] for H in found.instance.problem.H],
            "c": [[str(x) for x in c] for c in found.instance.problem.c],
            "start": [[str(x) for x in row] for row in found.instance.start],
        },
    }  # fmt: skip


def _start(heterogeneity: Fraction) -> str:
    if not heterogeneity:
        return "‖w_0 − x*‖²"
    return f"(‖w_0 − x*‖²{_counted(heterogeneity, 'mean‖∇F_k(x*)‖²')})"


def _counted(factor: Any, what: str) -> str:
    return f" + {_written(factor)}·{what}" if factor else ""


def _exact(value: Any) -> str | None:
    return None if value is None or isinstance(value, float) else _all_digits(value)


def _all_digits(value: Any) -> str:
    """However many these are: Python itself refuses more than 4,300."""
    from fedconvex.arithmetic.rationals import to_fmpq

    return str(value) if isinstance(value, float) else str(to_fmpq(value))


def _written(value: Any) -> str:
    text = _all_digits(value)
    return text if len(text) <= LONGEST else f"{_digits(value, Rounding.NEAREST)}…"


def _digits(value: Any, rounding: Rounding) -> str:
    return str(value if isinstance(value, float) else significant(value, DIGITS, rounding))
