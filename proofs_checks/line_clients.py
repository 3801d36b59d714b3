"""Instances of statements on the real line: quadratic clients, exactly, for the tightness of bounds.

An instance is (curvatures, slopes, start, values, vectors): clients a_k x²/2 − b_k x with equal weights, the server's
first point, the values of the setting's parameters in alphabetical order, and for every vector that the claim calls
free, in the order of their names, a number, or one for each client.
"""

from collections.abc import Iterable, Mapping
from fractions import Fraction
from typing import Any

import fedconvex as fc
from fedconvex.claims.methods import made
from fedconvex.claims.on_runs.admissibility import offences, rational
from fedconvex.claims.on_runs.evaluation import number_at
from fedconvex.claims.on_runs.federations import ExactFederation
from fedconvex.claims.terms import parts
from fedconvex.proofs_checks.remarks import Remarks, remarks_on
from fedconvex.proofs_checks.tightness import Tightness, of_claim
from fedconvex.statements.statement import Paper, Statement, key_of

F = Fraction


def parameters_of(statement: Statement) -> tuple[str, ...]:
    """The names of the setting's parameters, in the order of an instance's values."""
    return tuple(sorted(statement.setting.signs))


def free_vectors(statement: Statement) -> tuple[str, ...]:
    """The names of the vectors that the claim calls free, in the order of an instance's vectors."""
    claim = statement.claim
    assert claim is not None
    found = (part for side in (claim.left, claim.right) for part in parts(side))
    return tuple(sorted({part.args[0] for part in found if part.head in ("free", "family")}))


def federation(statement: Statement, instance: Any) -> ExactFederation | None:
    """The federation; None where it is none of the statement's setting."""
    curvatures, slopes, start, values, vectors = instance
    setting, claim = statement.setting, statement.claim
    assert claim is not None
    given = dict(zip(parameters_of(statement), map(F, values), strict=True))
    if any(given[name].denominator != 1 or given[name] < 1 for name in setting.counts):
        return None
    values = setting.method_at(lambda x: rational(number_at(x, given)))
    method = made(setting.method, values) if setting.method else fc.FedGD(stepsize=F(1))
    active = 0 if setting.draws.active is None else int(rational(number_at(setting.draws.active, given)) or 0)
    scheme = {"everyone": fc.participation.Full, "uniform": fc.participation.Uniform,
              "independent": fc.participation.Weighted}[setting.draws.scheme]  # fmt: skip
    problem = fc.Quadratic([[[F(a)]] for a in curvatures], [[F(b)] for b in slopes])
    found = ExactFederation(
        problem, method, [F(start)], scheme(active) if active else scheme(), given,
        rounds=int(given.get(claim.rounds, 1)), rests=setting.rests,
        free={n: [[F(x)] for x in at] if isinstance(at, tuple) else [F(at)]
              for n, at in zip(free_vectors(statement), vectors, strict=True)},
    )  # fmt: skip
    return None if offences(setting, found) else found


def remarks_of_instances(paper: Paper, instances: Mapping[str, Any], attained: Iterable[str] = ()) -> None:
    """Registers how much of their bounds the worst known instances of a paper's statements use, by their keys."""

    @remarks_on(*map(paper.find, instances))
    def remarks(statement: Statement) -> Remarks:
        key = key_of(statement.number)
        measure = of_claim(statement, lambda instance: federation(statement, instance))
        return Remarks(tightness=Tightness(measure, instances[key], "quadratic clients on a line", key in attained))
