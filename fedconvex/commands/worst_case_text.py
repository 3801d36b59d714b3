"""The result of `fedconvex worst-case`, as lines for a terminal and as a dictionary for JSON."""

import math
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from fedconvex.arithmetic.decimals import Rounding, significant, to_text

if TYPE_CHECKING:
    from fedconvex.proofs_checks import WorstCase
    from fedconvex.proofs_checks.worst_cases.looseness.factor import Looseness
    from fedconvex.proofs_checks.worst_cases.questions.function_classes import FunctionClass
    from fedconvex.proofs_checks.worst_cases.questions.specification import Specification

DIGITS = 12
LEAST = Fraction(1, 10**9)  # multipliers below this part of the largest one are only counted
LONGEST = 24  # characters of a fraction that is printed in full
MEANINGS = {
    "distance": "‖w_T − x*‖² / {start}",
    "lifted_distance": "Σ‖z_k − z_k*‖² after the rounds / before",
    "gap": "(f(w_T) − f*) / {start}",
    "gradient_norm": "‖∇f(w_T)‖² / {start}",
    "descent": "(f(w) − f(w⁺)) / ‖∇f(w)‖², at least",
    "gap_ratio": "(f(w_T) − f*) / (f(w_0) − f*)",
    "bias": "‖w − x*‖² / mean‖∇F_k(x*)‖² at a fixed point w",
    "average_gap": "(f(mean of γ^t, t < T) − f*) / {start}, γ^0 = w_0 and γ^t the clients' average in round t",
    "mean_gap": "mean of f(γ^t) − f*, t < T / {start}, γ^0 = w_0 and γ^t the clients' average in round t",
    "mean_gradient_norm": "mean of ‖∇f(γ^t)‖², t < T / {least}, γ^0 = w_0 and γ^t the clients' average in round t",
}


def lines(found: "WorstCase", clients: str) -> list[str]:
    """The worst case for a terminal."""
    from fedconvex.audit.methods import describe

    spec = found.question.spec
    written = [
        f"{describe(spec.method)}, {spec.rounds} round{'s' * (spec.rounds > 1)}; "
        f"{clients} client{'s' * (clients != '1')}, {_described(spec.clients)}",
        meaning(spec),
        *interval_lines(found, spec.metric),
        found.says,
    ]
    return written + _multipliers(found) + _federation(found)


def meaning(spec: "Specification") -> str:
    """The metric with its formula and its normaliser."""
    if spec.ratio is not None:
        return f"ratio: {spec.ratio.text}"
    given = _counted(spec.heterogeneity, "mean‖∇F_k(w_0)‖²") + _counted(spec.spread or 0, "mean‖θ_k⁰ − w_0‖²")
    least = f"(f(w_0) − inf f{given})"
    return f"{spec.metric}: " + MEANINGS[spec.metric].format(start=_start(spec), least=least)


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
    return (
        f"{kind}, {high}-smooth"
        + ", quadratic" * (type(functions).__name__ == "Quadratics")
        + (f", Hessians within {delta} of the objective's" if (delta := getattr(functions, "delta", None)) else "")
    )


def _federation(found: "WorstCase") -> list[str]:
    if found.instance is None or not found.is_played:
        return []
    problem, start = found.instance.problem, found.instance.start
    noise = f"; gradients with noise, σ² = {_written(found.variance)}" * (found.question.spec.noise is not None)
    types: dict[str, list[int]] = {}
    for k in range(problem.num_clients):
        H = "; ".join(" ".join(map(_written, row)) for row in problem.H[k])
        c, x = (" ".join(map(_written, vector)) for vector in (problem.c[k], start[min(k, len(start) - 1)]))
        number = k + 1 if problem.num_clients <= 2 else "k"
        types.setdefault(f"  H_{number} = [{H}], c_{number} = [{c}], x_{number} = [{x}]", []).append(k)
    if problem.num_clients <= 2:
        return [
            f"federation: F_k(x) = ½xᵀH_k x − c_kᵀx, half of the clients of each type; starts at x_k{noise}",
            *types,
        ]
    return [f"federation: F_k(x) = ½xᵀH_k x − c_kᵀx; starts at x_k{noise}",
            *(f"{row}: {len(which)} of {problem.num_clients} clients" for row, which in types.items())]  # fmt: skip


def to_dictionary(found: "WorstCase", clients: str) -> dict[str, Any]:
    """The worst case for JSON: exact numbers as fractions, infinite and unknown ones as null."""
    from fedconvex.audit.methods import describe

    spec = found.question.spec
    played = found.instance is not None and found.is_played
    return {
        "method": describe(spec.method),
        "class": _described(spec.clients),
        "clients": clients,
        "rounds": spec.rounds,
        "metric": spec.metric,
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


def _start(spec: "Specification") -> str:
    more = _counted(spec.heterogeneity, "mean‖∇F_k(x*)‖²") + _counted(spec.noise or 0, "σ²")
    return f"(‖w_0 − x*‖²{more})" if more else "‖w_0 − x*‖²"


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
