"""Refuted statements: the negation of the claim as a theorem of Rocq, from the same definitions, with its instance.

The theorem is generated from the statement's setting and claim, as others are. Its proof, which gives the clients,
their functions and every vector of the rounds, is a file in `Refuted`.
"""

from functools import reduce
from importlib.resources import files

from fedconvex.claims.claim import Claim
from fedconvex.claims.terms import Number, Vector, inner
from fedconvex.proofs_checks.kernel import proofs
from fedconvex.proofs_checks.rocq.run_displays import RunDisplay
from fedconvex.proofs_checks.rocq.runs import RunTheorem
from fedconvex.proofs_checks.rocq.terms import Missing
from fedconvex.proofs_checks.rocq.theorems import TheoremText
from fedconvex.statements.statement import Statement

HERE = "(* the theorem *)"  # where a file in `Refuted` has the theorem


def refutation(statement: Statement) -> str:
    """The instance, the theorem that the claim is false, and its proof. Raises Missing where there is no such proof."""
    module = statement.identifier.replace(".", "_")
    path = files("fedconvex.proofs_checks.rocq") / "Refuted" / f"{module}.v"
    if not path.is_file():
        raise Missing("a refutation as a proof")
    return path.read_text("utf-8").replace(HERE, negation(statement)).rstrip()


def negation(statement: Statement) -> str:
    """The theorem that the statement's claim does not hold in its setting."""
    module = f"{statement.identifier.replace('.', '_')}_is_false"
    assert statement.claim is not None
    if statement.claim.of_run:
        text = _of_run(module, statement)
    else:
        text = TheoremText(module, statement.setting, statement.claim, proofs.Derivation(())).statement()
    head, _, claimed = text.partition(":\n")
    return f"{head.rstrip()} :\n  ~ (\n{claimed.removesuffix('.')})."


def _of_run(module: str, statement: Statement) -> str:
    """The claim about a run, with everything that the rounds say of every vector: a run that obeys less is none."""
    theorem = RunTheorem(module, statement.setting, statement.claim, proofs.Derivation(()))  # type: ignore[arg-type]
    if statement.setting.minimiser:
        theorem.round.vector(Vector("minimiser"))
    moment, first_moment = ("past", "nil") if theorem.drawn else ("j", "O")
    first = theorem.master.board.round.first
    state = [("server", ()), *(("shared", (n,)) for n in first.shared), *(("memory", (n,)) for n in first.memory)]
    for when, moments in (("start", (0,)), ("round", (0, 1))):
        vectors = [Vector(sort, (*name, t)) for sort, name in state for t in moments]
        if when == "round" and statement.setting.minimiser:
            vectors.append(Vector("minimiser"))
        squares: list[Number] = [inner(u, u) for u in vectors]
        whole = reduce(lambda x, y: x + y, squares)
        line = proofs.Combine(whole, whole, (), (), "=")
        theorem.hypotheses_of(theorem.lemma(when, Claim(whole, "=", whole), (line,), when),
                              first_moment if when == "start" else moment)  # fmt: skip
    display = RunDisplay(theorem, moment, first_moment)
    return display.statement(theorem.used.values())
