"""The folder that Rocq checks: the library, a theorem for each statement, and what a reader needs to believe them."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache, reduce
from importlib.resources import files
from pathlib import Path
from typing import final

from fedconvex.atomic_files import write_atomically
from fedconvex.claims.claim import Claim, ClaimSetting
from fedconvex.claims.terms import Number, Vector, inner
from fedconvex.errors import InvalidInput
from fedconvex.proofs_checks.claims import builder_of, derivation_of
from fedconvex.proofs_checks.kernel import Refused, proofs
from fedconvex.proofs_checks.kernel.proofs import Derivation, LocalSteps
from fedconvex.proofs_checks.rocq.along_scripts import AlongStepsScript
from fedconvex.proofs_checks.rocq.along_steps import has_potential
from fedconvex.proofs_checks.rocq.case_scripts import CaseScript, script_of_cases
from fedconvex.proofs_checks.rocq.cases import Split, split
from fedconvex.proofs_checks.rocq.local_step_scripts import LocalStepsScript
from fedconvex.proofs_checks.rocq.run_displays import RunDisplay
from fedconvex.proofs_checks.rocq.run_scripts import RunScript
from fedconvex.proofs_checks.rocq.runs import RunTheorem
from fedconvex.proofs_checks.rocq.scripts import Script
from fedconvex.proofs_checks.rocq.terms import Missing
from fedconvex.proofs_checks.rocq.theorems import TheoremText
from fedconvex.proofs_checks.verification import load
from fedconvex.statements.statement import Statement
from fedconvex.theory import statement as statement_of

AnyScript = Script | RunScript | CaseScript | LocalStepsScript | AlongStepsScript
LIBRARY = (
    "Spaces",
    "Families",
    "Functions",
    "Normal",
    "Steps",
    "Forms",
    "Draws",
    "Random",
    "Idle",
    "Objective",
    "LocalSteps",
    "Runs",
    "Instances",
    "DrawnPoints",
    "DrawnLengths",
    "ProximalPoints",
)  # in the order in which they are compiled
# Statements whose generated proofs take Rocq longer than 20 seconds, or that it refuses: none now.
# Whoever mends one takes it out of this list, after `fedconvex verify --kernel rocq` has accepted it.
REFUSED_BY_ROCQ: frozenset[str] = frozenset()
HEAD = """From Coq Require Import Reals List Lra Lia.
From FedConvex Require Import Spaces Families Functions Normal Steps Draws Random LocalSteps.
Open Scope R_scope.
"""
OF_RUNS = HEAD.replace("Draws Random LocalSteps.", "Draws Random LocalSteps Runs.")
# Files of the library that few texts need, and what these have.
RARELY_NEEDED = {
    "DrawnPoints": "split_drawn",
    "DrawnLengths": "apply (triangle|mean_length)|a_length_in_draws",
    "ProximalPoints": "mean_and_rest",
    "Idle": "idle_square",
    "Forms": "apply form_nonneg",
    "Objective": r"\(objective f\)|\(gap_at_most |\(similar |\(single C\)",
}
# A lemma about signs.
LEMMA = re.compile(r"Lemma ([\w']+) : forall ([^:]*) : R,\n(.*?)\nProof\.\n.*?\nQed\.", re.S)
README = """# Theorems checked by Rocq

Each file in `Statements` has one theorem: a statement of a paper on federated optimization, with its proof. Rocq (or
Coq, version 8.16 or later; Debian: `apt install coq`) checks everything with `make`; the last step prints what the
theorems rest on: axioms of Rocq's standard library and no others.

To believe a theorem, read

1. the definitions in `FedConvex/Spaces.v` (vectors with an inner product), `FedConvex/Families.v` (clients with
   weights, one vector for every client, means) and `FedConvex/Functions.v` (functions with their gradients, and the two
   quadratics between which a function of given curvature lies), and `FedConvex/Draws.v` (clients that are drawn), each
   up to its first lemma; where a theorem has `objective f`, `gap_at_most`, `similar` or `single`, also
   `FedConvex/Objective.v` (the function that the clients minimise together, how far they are from it by Γ and δ, and
   that there is one client);
2. the theorem itself, from `Theorem` to `Proof.`: is it what the paper says? F is the function of all clients
   together: its value at a family (u_k) is the mean of the f_k(u_k), its gradient there the family of the gradients,
   and `inner` of families is the mean inner product. A round is written as equations, such as
   `gradient F theta = (- 1) * (mu * (theta - w))` for the minimisers theta_k of f_k + (mu/2)|. - w|^2, and
   `mean (gradient F prox) = c * (v - prox)` for the minimiser of the objective of all + (c/2)|. - v|^2. In rounds
   with drawn clients vectors are `random`: `inner` and F are then expectations over the draw, too. A length in the
   outcome o of the draw is `norm (u o)`, and E|u| is `average W (fun o => norm (u o))`.
3. for theorems about runs of many rounds, the definitions in `FedConvex/Runs.v`, up to "Nothing below this line":
   `w j` is the vector w before round j + 1; where clients are drawn, `w past` depends on the outcomes of the rounds
   before, EF is F in expectation over the draw of a round, and `after t x` is the expectation of x after t rounds. The
   state before the first round is a hypothesis, and the theorem proves what the method's memory always satisfies.
4. for theorems about any number of local steps, the definition in `FedConvex/LocalSteps.v`: `y i` is the point of a
   client, or of all together, after i of `steps` local steps, and `y steps` is the answer. In a run of many rounds
   `y j` are those of round j + 1.

A theorem that is proved by cases stands last in its file, after one theorem for each case.

A theorem with the name of a statement and `_is_false` says that the claim does not hold under the statement's own
   assumptions: `~ (...)` around it. `FedConvex/Instances.v` has the clients of its proof.

Nothing else needs to be read: proofs, tactics and the program that wrote them are checked by Rocq. That the vectors of
a round exist is a hypothesis of each theorem. In a theorem about one round so is what a method's memory always
satisfies, such as FedDyn's h = the mean of the memories.
"""


@final
@dataclass(frozen=True)
class Exported:
    """A statement's theorem in Rocq: the text of its file; or what the export lacks for it."""

    identifier: str
    text: str = ""
    missing: str = ""
    cited: tuple[str, ...] = ()
    refuted: bool = False

    @property
    def module(self) -> str:
        """The name of the theorem and of its file."""
        return self.identifier.replace(".", "_") + ("_is_false" if self.refuted else "")


def exported(statement: Statement) -> Exported:
    """The statement's theorem and proof in Rocq; `missing` says why there is none."""
    load(statement.paper.name)
    identifier = statement.identifier
    if statement.claim is None:
        return Exported(identifier, missing="it has no claim as data")
    if builder_of(statement) is None:
        return _refuted(statement)
    if identifier in REFUSED_BY_ROCQ:
        return Exported(identifier, missing="Rocq needs more than 20 seconds for the generated proof, or refuses it")
    try:
        script = script_of(statement)
        text = without_repeats(script.whole())
    except Missing as error:
        return Exported(identifier, missing=f"the export does not know yet: {error}")
    except Refused as error:
        return Exported(identifier, missing=f"no proof to export: {error}")
    cited = tuple(script.cited)
    needed = "".join(f"From Statements Require Import {Exported(name).module}.\n" for name in cited)
    head = OF_RUNS if statement.claim.of_run else HEAD
    rarely = "".join(
        f"From FedConvex Require Import {name}.\n" for name, of in RARELY_NEEDED.items() if re.search(of, text)
    )
    return Exported(identifier, f"(** {identifier} *)\n\n{head}{rarely}{needed}\n{text}\n", cited=cited)


def script_of(statement: Statement) -> AnyScript:
    """The theorem of a statement with a claim and a proof, and its script. Raises Missing and Refused."""
    load(statement.paper.name)
    assert statement.claim is not None
    name = statement.identifier.replace(".", "_")
    return script_for(name, statement.setting, statement.claim, derivation_of(statement))


def script_for(name: str, setting: ClaimSetting, claim: Claim, derivation: Derivation) -> AnyScript:
    """The script of a claim with its proof, by what the proof is about."""
    if derivation.cases is not None:
        tree = split(name, setting, claim, derivation)
        assert isinstance(tree, Split)
        return script_of_cases(name, setting, claim, tree)
    if claim.of_run:
        return RunScript(RunTheorem(name, setting, claim, derivation))
    if has_potential(derivation):
        return AlongStepsScript(name, setting, claim, derivation)
    if any(isinstance(line, LocalSteps) for line in derivation.lines):
        return LocalStepsScript(name, setting, claim, derivation)
    return Script(TheoremText(name, setting, claim, derivation))


def without_repeats(text: str) -> str:
    """The text where lemmas about signs cite an earlier one that says the same, so that Rocq checks a formula once."""
    known: dict[str, list[tuple[str, list[str], set[str]]]] = {}

    def shorter(match: re.Match[str]) -> str:
        name, variables, said = match[1], match[2].split(), match[3]
        *given, conclusion = re.split(r" ->\s+", said.strip())
        for earlier, needed, hypotheses in known.get(conclusion, []):
            if set(needed) <= set(variables) and hypotheses <= set(given):
                head = match[0][: match[0].index("\nProof.")]
                return f"{head}\nProof. intros. apply ({earlier} {' '.join(needed)}); assumption. Qed."
        known.setdefault(conclusion, []).append((name, variables, set(given)))
        return match[0]

    return LEMMA.sub(shorter, text)


def _refuted(statement: Statement) -> Exported:
    """The negation of a claim that is false, proved by an instance."""
    try:
        text = refutation(statement)
    except Missing:
        return Exported(statement.identifier, missing="it has no proof as data")
    return Exported(statement.identifier, f"(** {statement.identifier} *)\n\n{OF_RUNS}\n{text}\n", refuted=True)


@cache
def library() -> dict[str, str]:
    """The files of the library, by name."""
    folder = files("fedconvex.proofs_checks.rocq") / "FedConvex"
    return {name: (folder / f"{name}.v").read_text("utf-8") for name in LIBRARY}


def require_empty(folder: Path) -> None:
    """Refuses a folder with files in it. Raises InvalidInput."""
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise InvalidInput("--rocq", folder, "is not an empty folder", "give a new one")


def write_theories(folder: Path, statements: Iterable[Statement]) -> list[Exported]:
    """Writes the library, the theorems of these statements, and what compiles and explains them.

    Raises InvalidInput for a folder that is not empty. What cannot be exported is in the answer, with the reason.
    """
    require_empty(folder)
    found = _with_cited(statements)
    written = [one for one in found if one.text]
    contents = {f"FedConvex/{name}.v": text for name, text in library().items()}
    contents |= {f"Statements/{one.module}.v": one.text for one in written}
    contents["Assumptions.v"] = _assumptions(written)
    contents["_CoqProject"] = "\n".join(["-R FedConvex FedConvex", "-R Statements Statements", *contents, ""])
    contents["Makefile"] = _makefile(written)
    contents["README.md"] = README + _left_out(found)
    for name, text in contents.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        write_atomically(path, text.encode())
    return found


def _with_cited(statements: Iterable[Statement]) -> list[Exported]:
    """The exported statements, those that others cite before these."""
    found: dict[str, Exported] = {}

    def add(statement: Statement) -> None:
        if statement.identifier in found:
            return
        made = exported(statement)
        for identifier in made.cited:
            add(statement_of(identifier))
        lost = [identifier for identifier in made.cited if found[identifier].missing]
        found[made.identifier] = (
            Exported(made.identifier, missing=f"it cites {lost[0]}: {found[lost[0]].missing}") if lost else made
        )

    for statement in statements:
        add(statement)
    return list(found.values())


def _assumptions(written: list[Exported]) -> str:
    lines = ["From FedConvex Require Import Spaces Families Functions Draws."]
    lines += [f"From Statements Require Import {one.module}." for one in written]
    lines += [f"Print Assumptions {one.module}." for one in written]
    return "\n".join([*lines, ""])


def _makefile(written: list[Exported]) -> str:
    """Rules with the dependencies written out: the library file by file, then all theorems."""
    compile_it = "\t$(COQC) -q -R FedConvex FedConvex -R Statements Statements $<"
    theorems = [f"Statements/{one.module}.vo" for one in written]
    last = f"FedConvex/{LIBRARY[-1]}.vo"
    lines = [
        "COQC := $(if $(shell command -v coqc),coqc,rocq compile)",  # Rocq 9 can come without the old name
        f"THEOREMS = {' '.join(theorems)}",
        "all: Assumptions.vo",
        f"Assumptions.vo: Assumptions.v {last} $(THEOREMS)",
        compile_it,
        f"$(THEOREMS): %.vo: %.v {last}",
        compile_it,
    ]
    for before, name in zip(("", *LIBRARY[:-1]), LIBRARY, strict=True):
        needed = f" FedConvex/{before}.vo" if before else ""
        lines += [f"FedConvex/{name}.vo: FedConvex/{name}.v{needed}", compile_it]
    lines += [
        f"Statements/{one.module}.vo: Statements/{Exported(name).module}.vo" for one in written for name in one.cited
    ]
    return "\n".join([*lines, ".PHONY: all", ""])


def _left_out(found: list[Exported]) -> str:
    left = [one for one in found if one.missing]
    if not left:
        return ""
    lines = [f"* `{one.identifier}`: {one.missing}" for one in left]
    return "\n".join(["", "## Not exported", "", *lines, ""])


# Refuted statements: the negation of the claim as a theorem of Rocq, from the same definitions, with its instance.
# The theorem is generated from the statement's setting and claim, as others are. Its proof, which gives the clients,
# their functions and every vector of the rounds, is a file in `Refuted`.

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
