"""The formulas on the methods' pages, made from the code: one round, and statements with their verdicts.

`generated_pages.py` puts them into the pages, and makes a page for a method that has none.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import MISSING, fields
from pathlib import Path
from typing import Any

import numpy as np
import sympy
from recorded_tables import TABLES, recorded_rows

import fedconvex as fc
from fedconvex.local_solvers.base import Answers
from fedconvex.methods.base import Cohort, Method, State
from fedconvex.proofs_checks.reporting.recorded import recorded
from fedconvex.safe_text import markdown_table
from fedconvex.statements.rendering import formulas_in_markdown
from fedconvex.theory import statement

DOCS = Path(__file__).resolve().parents[1]
LOOSENESS = "looseness_of_theorems"
LETTERS = {
    "mu": r"\mu", "stepsize": "s", "alpha": r"\alpha", "eta": r"\eta", "server_stepsize": r"\eta",
    "regularization": r"\lambda", "momentum": r"\beta", "probability": "p", "beta1": r"\beta_1", "beta2": r"\beta_2",
    "memory_stepsize": r"\alpha",
}  # fmt: skip
MEMORY = {
    "c": "c_k", "h": "h_k", "answer": r"\theta_k^{\mathrm{old}}", "anchor": "a_k",
    "z": "z_k", "personal": "v_k", "model": "x_k", "control": "h_k", "gradient": "g_k", "dual": r"\lambda_k",
}  # fmt: skip
SHARED = {"c": "c", "anchor": "x^{(1)}", "h": "h", "momentum": "m", "first_moment": "m", "second_moment": "v"}
OF_THE_SERVER = (
    "eta",
    "server_stepsize",
    "momentum",
    "beta1",
    "beta2",
    "tau",
    "probability",
    "memory_stepsize",
)  # shown, although they have defaults
GREEK = ("alpha", "beta", "gamma", "delta", "eta", "theta", "lambda", "mu", "nu", "rho", "sigma", "tau", "omega")
NOT_SHOWN = ("answer", "anchor")  # the last answer, and the centre of a local round: the subproblem shows them


class Mean(sympy.Function):  # type: ignore[misc]
    """The plain mean over the clients."""

    word = "mean"

    def _latex(self, printer: Any, exp: str = "") -> str:
        """As LaTeX; `exp` is a power of it."""
        power = rf"^{{{exp}}}" if exp else ""
        return rf"\operatorname{{{self.word}}}_k\left({printer.doprint(self.args[0])}\right){power}"


class Average(Mean):
    """The mean with the problem's weights."""

    word = "average"


def algebra(names: Iterable[str]) -> str:
    """The client's subproblem, what it remembers, what the server does: one displayed formula each."""
    return "\n".join(f"$$ {line} $$\n" for name in names for line in one_round(on_symbols(getattr(fc, name))))


def on_symbols(kind: type[Method]) -> Method:
    """The method with a symbol for every number that its formulas contain."""
    shown = [field for field in fields(kind) if is_symbolic(field)]  # type: ignore[arg-type]
    names = [field.name for field in shown]
    # 1 passes the checks of every constructor that needs a number, a symbol those of none
    method = kind(**{field.name: 1 for field in shown if field.default is MISSING})
    for name in names:
        object.__setattr__(method, name, sympy.Symbol(letter(name, LETTERS), positive=True))
    return method


def is_symbolic(field: Any) -> bool:
    """Whether formulas contain the parameter: a number without a default, or one of the server's; no counts."""
    return field.name in OF_THE_SERVER or bool(field.metadata.get("number") and field.default is MISSING)


def letter(name: str, known: Mapping[str, str], index: str = "") -> str:
    """How LaTeX writes a name of the code: as the paper does where that is known, else in Greek or upright."""
    return known.get(name) or (rf"\{name}" if name in GREEK else rf"\mathrm{{{name}}}".replace("_", r"\_")) + index


def one_round(method: Method) -> Iterator[str]:
    """The formulas of a round in which all clients take part; one symbolic client stands for all of them."""
    server = _symbol("x" if "Split" in type(method).__name__ else "w")
    mean = Mean if method.plain else Average
    gradients = {"own": _symbol(rf"{{\nabla F_k({server})}}"), "all": _symbol(rf"{{\nabla f({server})}}")}
    population = sympy.Symbol("m", positive=True)
    # Arrays with one row: the method's own code runs on them as on those of m clients.
    cohort = Cohort(
        points=np.array([[server]]),
        population=population,
        everyone=True,
        communicates=True,
        average=lambda stack: _averaged(mean, stack),
        gradients=lambda: np.array([[gradients["own"]]]),
        sampled_gradient=lambda: np.array([_symbol("g")]),
        full_gradient=lambda: np.array([gradients["all"]]),
        objective=lambda: _symbol(f"f({server})"),
        total=lambda stack: population * _averaged(mean, stack),
        square_root=lambda values: np.array([sympy.sqrt(value) for value in values]),
        sign=lambda values: np.array([sympy.sign(value) for value in values]),
        compress=lambda _, rows: np.array([[sympy.Function("C_k")(rows.ravel()[0])]]),
    )
    kept = method.initial_state(np.array([server]), lambda point: np.array([point]))
    state = State(
        np.array([server]),
        {name: np.array([_symbol(letter(name, SHARED))]) for name in kept.shared},
        {name: np.array([[_symbol(letter(name, MEMORY, "_k"))]]) for name in kept.memory},
    )
    asked, theta = method.subproblem(state, cohort), _symbol(r"\theta_k")
    yield _subproblem(asked)
    new = method.update(state, cohort, Answers(np.array([[theta]]), np.array([[_symbol(r"\ell_k")]])))
    known: dict[Any, Any] = {}  # new values that a line above has named: later lines use the name
    parts = [(state.memory[n], new.memory[n]) for n in kept.memory if n not in NOT_SHOWN]
    parts += [(state.shared[n], new.shared[n]) for n in kept.shared if n not in NOT_SHOWN]
    for before, after in [*parts, (state.server, new.server)]:
        symbol, value = before.ravel()[0], after.ravel()[0].subs(known)
        yield rf"{sympy.latex(symbol)} \leftarrow {sympy.latex(value)}"
        known[after.ravel()[0]] = symbol


def _subproblem(asked: Any) -> str:
    terms = [r"F_k(\theta)"]
    if asked.linear is not None:
        terms.append(rf"\left\langle {sympy.latex(asked.linear[0, 0])},\, \theta\right\rangle")
    if asked.center is not None:
        weight = sympy.latex(sympy.together(asked.weight) / 2)
        center = sympy.latex(sympy.simplify(asked.center[0, 0]))
        inside = center if re.fullmatch(r"[a-z]", center) else rf"\left({center}\right)"
        terms.append(rf"{weight} \left\|\theta - {inside}\right\|^2")
    start = sympy.latex(asked.start[0, 0])
    return rf"\theta_k \approx \operatorname{{argmin}}_\theta\; {' + '.join(terms)}, \qquad \text{{from }} {start}"


def _averaged(mean: Any, stack: Any) -> Any:
    return np.array([mean(stack[0, 0])])


def _symbol(latex_name: str) -> Any:
    return sympy.Symbol(latex_name)


def statements(identifiers: Iterable[str]) -> str:
    """Each statement's formula, assumptions and verdict; then a table of how loose the bounds are."""
    names = list(identifiers)
    lines = [line for name in names for line in _statement(name)]
    rows = [row for name in names for row in _loose(name)]
    if rows:
        lines.append(markdown_table(TABLES[LOOSENESS].head, rows))
    return "\n".join([*lines, ""])


def _statement(identifier: str) -> Iterator[str]:
    found = statement(identifier)
    heading = re.sub(r"[\s-]+", "-", re.sub(r"[^\w\s-]", "", found.paper.short).strip().lower())  # the guide's anchor
    link = f"../statements.md#{identifier.replace('.', '')}"
    known = recorded().get(identifier)
    verdict = "not proved here"
    if known is not None:
        corrected = f", what holds is `{known['corrected']}`" if "corrected" in known else ""
        verdict = f"[{known['verdict']}](../verdicts.md#{heading}){corrected}{', restated' * found.restated}"
    yield from (f"**[`{identifier}`]({link})** ({found.claim_type.value}; {verdict}). {found.words}", "")
    yield from formulas_in_markdown(found)


def _loose(identifier: str) -> list[list[str]]:
    """The statement's rows of the table on looseness."""
    return [row for row in recorded_rows()[LOOSENESS] if row[0] == f"`{identifier}`"]
