"""The table of theorems on rates: what is proved for all parameters, and what was known."""

from collections.abc import Iterator, Mapping

import numpy as np
from number_tables import NumberTable
from published_rates import PUBLISHED, Published

import fedconvex as fc
from fedconvex.methods.base import Method
from fedconvex.proofs_checks.remarks import remarks_of
from fedconvex.proofs_checks.verification import load
from fedconvex.statements.assumptions import Runs
from fedconvex.statements.statement import Statement
from fedconvex.theory import statement

METHODS: Mapping[str, Method] = {
    "FedProx": fc.FedProx(mu=1), "FedGD": fc.FedGD(stepsize=1), "Scaffold": fc.Scaffold(stepsize=1),
    "DANE": fc.DANE(mu=1), "FedDyn": fc.FedDyn(alpha=1), "FedDynOneGD": fc.FedDynOneGD(alpha=1),
    "FedPD": fc.FedPD(eta=1), "FedSplit": fc.FedSplit(stepsize=1),
}  # fmt: skip
BEST: Mapping[str, str] = {
    "scaffold.acceleration": "s = 1/L, e = ⌊√(3κ/4)⌋",
    "feddyn.linearrate": "α = √(μL)",
    "exact_rates.fedproxerrorfloor": "s → 0",
    "exact_rates.fedproxround": "s falling over the rounds",
    "exact_rates.fedproxrun": "s falling over the rounds",
    "exact_rates.fedproxroundofpclients": "s falling over the rounds",
    "exact_rates.fedproxconvexclients": "s falling with T",
    "exact_rates.fedsgdround": "s falling over the rounds",
    "exact_rates.fedsgdrun": "s falling over the rounds",
    "exact_rates.fedsgdconvexclients": "s falling with T",
    "exact_rates.scaffoldstep": "ηs = 2/(μ + L)",
    "exact_rates.scaffoldroundofpclients": "the largest s",
    "exact_rates.scaffoldconvexclients": "s = 1/(4L), for √(2m/P)·ζ_* ≤ 4L‖w⁰ − w*‖",
    "exact_rates.scaffoldroundconvexclients": "s = 1/L, any e",
    "exact_rates.scaffoldconvexclientslocalsteps": "s = 1/L, e ≤ ‖w⁰ − w*‖/(sζ_*)",
    "exact_rates.daneround": "s = 1/(L − μ)",
    "exact_rates.daneconvexclients": "s = 1/(√2 L), c = 1",
    "exact_rates.feddynconvexclients": "α = max(2L, ζ_*/‖w⁰ − w*‖)",
    "exact_rates.feddynonegdconvexclients": "α = 3L",
    "exact_rates.feddynonegdround": "α = 2(μ + L)",
    "exact_rates.fedpdround": "η = 1/√(μL)",
    "exact_rates.fedpdconvexclients": "η = min(1/(2L), ‖w⁰ − w*‖/ζ_*)",
    "exact_rates.fedsplitroundofpclients": "s = 1/√(μL)",
}


def published_bounds() -> Iterator[tuple[str, Published]]:
    """What has a row."""
    for paper in ("scaffold", "feddyn", "exact_rates"):
        load(paper)
    yield from PUBLISHED.items()


def cells(name: str, published: Published) -> tuple[str, ...]:
    """The cells of a statement's row."""
    of = statement(name)
    return f"`{name}`", of.words, _attained(of), BEST[name], _vectors(of), _known(published), _factor(published)


def _attained(of: Statement) -> str:
    found = remarks_of(of).tightness
    return f"yes: {found.how}" if found.attained else f"{float(found.quotient):.2g}: {found.how}"


def _vectors(of: Statement) -> str:
    method = METHODS[next(a.method for a in of.assumptions if isinstance(a, Runs))]
    kept = len(method.initial_state(np.zeros(1), lambda row: row).memory)
    more = int(method.gradients_from != "nobody")  # for the objective's gradient, in a communication of its own
    return f"{method.vectors_down + more} + {method.vectors_up + more}, {kept}"


def _known(published: Published) -> str:
    return published.source if published.says == "–" else f"{published.source}: {published.says}"


def _factor(published: Published) -> str:
    found = published.factor
    return "–" if found is None else f"{found:.3g} ({published.at})"


TABLE = NumberTable(
    ("statement", "what is proved", "attained", "best parameters", "vectors: down + up, kept", "published", "factor"),
    published_bounds,
    cells,
)
