"""The proof of a theorem about a run: lemmas about one round, added up over the rounds."""

from collections.abc import Callable
from typing import Any, final

from fedconvex.claims.claim import Claim
from fedconvex.claims.terms import Number, Vector, number, parts
from fedconvex.proofs_checks.kernel import proofs
from fedconvex.proofs_checks.kernel.formulas import after_round, is_of_parameters
from fedconvex.proofs_checks.rocq.along_steps import lines_under
from fedconvex.proofs_checks.rocq.parameter_signs import ParameterSigns
from fedconvex.proofs_checks.rocq.run_displays import RunDisplay
from fedconvex.proofs_checks.rocq.run_ends import board_of_last_line, conclude_run, introduce_parameters, leftovers_of
from fedconvex.proofs_checks.rocq.run_lines import add_up, last_line
from fedconvex.proofs_checks.rocq.run_sums import Expected, Key, Names, Sum
from fedconvex.proofs_checks.rocq.run_terms import BEFORE, ONE, Combination, combination
from fedconvex.proofs_checks.rocq.runs import RunTheorem
from fedconvex.proofs_checks.rocq.scripts import Script
from fedconvex.proofs_checks.rocq.terms import Missing, Writer
from fedconvex.proofs_checks.rocq.theorems import TheoremText


@final
class RunScript:
    """The script of a theorem about a run; `whole` has its lemmas and the theorem, too."""

    def __init__(self, theorem: RunTheorem):
        self.theorem, self.drawn = theorem, theorem.drawn
        self.atoms: dict[Number, str] = {}  # names of numbers at a moment, or of fixed ones
        self.fixed: set[str] = set()
        self.out: list[str] = []
        self.equal_at_start: dict[Key, Key | None]
        self.finish: Callable[[str], str]
        self.known: ParameterSigns
        self.final: TheoremText
        self.claims: list[Number]
        self.summands: list[tuple[Number, str, Sum]]
        self.facts: dict[str, Sum] = {}  # what the lines about all rounds say is >= 0, by name
        self.proofs_of: dict[str, str] = {}
        self.multipliers: list[Number] = []
        self.numbers: list[Number] = []
        self.moment, self.first = ("past", "nil") if self.drawn else ("j", "O")
        self.display = RunDisplay(theorem, self.moment, self.first)
        self.cited: dict[str, TheoremText] = {}
        self.scripts: list[str] = []
        self.ratio_lemmas: list[str] = []

    def say(self, line: str) -> None:
        self.out.append(f"  {line}")

    # ---- numbers

    def atom(self, of: Number) -> str:
        """The name of a number at a moment."""
        if of not in self.atoms:
            self.atoms[of] = f"x{len(self.atoms) + 1}"
            vectors = [p for p in parts(of) if p.head == "variable"]
            if any(p.head in ("drawn", "expected") for p in parts(of)):
                raise Missing("a number that depends on the draw of its round")
            if self.drawn and any(p.head == "norm" for p in parts(of)):
                raise Missing("an expected length")
            if all(self.theorem.is_fixed(v.args[0]) for v in vectors):
                self.fixed.add(self.atoms[of])
        return self.atoms[of]

    def combined(self, of: Number) -> Combination:
        """The number of a round as a combination of numbers in the run's vectors."""
        return combination(self.theorem.round.number(of))

    def sum_of(self, of: Number, when: str) -> Sum:
        """The number of a round at the start, at the end, or (by the place of its ratio) added up over the rounds."""
        found = Sum()
        for c, atom in self.combined(of):
            if atom is None:
                found.terms.append((c * self._rounds(when), None))
            elif (name := self.atom(atom)) in self.fixed:
                found.terms.append((c * self._rounds(when), ("", name)))
            else:
                found.terms.append((c, (when, name)))
        return found

    def _rounds(self, when: str) -> Number:
        """By what the sum multiplies what is alike in all rounds."""
        return self.theorem.terms.ratios[int(when)].sum if when.isdigit() else ONE

    def _place(self, ratio: Number) -> str:
        return str(self.theorem.terms.ratios.index(self.theorem.terms.ratio(ratio)))

    def in_run(self, of: Number) -> Sum:
        """The number of the claim."""
        if type(of) is not Number:
            raise Missing("vectors in a run")
        if not any(p.head in ("after", "sum of rounds", "mean of rounds") for p in parts(of)):
            return self.sum_of(of, "start")
        match of.head, of.args:
            case "expected", (x,):
                return self.in_run(x)
            case "after", (x,):
                return self.sum_of(x, "end")
            case "sum of rounds", (r, x):
                return self.sum_of(x, self._place(r))
            case "mean of rounds", (r, x):
                return self.sum_of(x, self._place(r)).times(1 / self.theorem.terms.ratio(r).sum)
            case "value", (Vector("mean of rounds", (r, u)),):
                return Sum([(ONE, ("mean", self.display.value_at_mean(r, u)))])
            case "+", (x, y):
                return self.in_run(x).plus(self.in_run(y))
            case "-", (x, y):
                return self.in_run(x).plus(self.in_run(y).times(number(-1)))
            case "neg", (x,):
                return self.in_run(x).times(number(-1))
            case "*", (x, y):
                x, y = (x, y) if is_of_parameters(x) else (y, x)
                return self.in_run(y).times(x)
            case "/", (x, y):
                return self.in_run(x).times(1 / y)
        raise Missing(f"{of.head} in a run")

    def text(self, of: Sum) -> str:
        """The sum as a number of Rocq."""
        summands = [
            self.writer.factor(c) if key is None else f"{self.writer.factor(c)} * {self.key(key)}"
            for c, key in of.terms
        ]
        return " + ".join(summands) or "0"

    def key(self, key: Key) -> str:
        when, name = key
        if when == "":
            return name
        if when == "mean":
            return f"({name})"
        if when == "start":
            return f"{name} {self.first}"
        if when == "end":
            return f"after rounds {name}" if self.drawn else f"{name} rounds"
        ratio = self.writer.factor(self.theorem.terms.ratios[int(when)].ratio)
        return f"sum_of_rounds {ratio} rounds (fun j => {f'after j {name}' if self.drawn else f'{name} j'})"

    # ---- lemmas about one round

    def prove(self, lemma: TheoremText) -> None:
        """Writes the lemma with its proof."""
        script = Script(lemma)
        self.scripts.append(script.whole())
        self.cited |= script.cited

    def lemma(self, name: str, left: Any, right: Any, facts: Any, squares: Any, when: str = "round",
              relation: str = "<=") -> TheoremText:  # fmt: skip
        """A lemma about one moment, with its proof."""
        line = proofs.Combine(left, right, facts, squares, relation)
        made = self.theorem.lemma(
            name, Claim(left, relation, right), (*lines_under(facts, self.theorem.derivation.of_round), line), when
        )
        self.prove(made)
        return made

    def use(self, lemma: TheoremText, moment: str, before: str = "") -> list[str]:
        """Tactics that add what the lemma says at a moment, called `here_is`; averages of what is known are gone."""
        term, tactics = self.theorem.applied(lemma, moment, before)
        names = {v: self.theorem.round.same_as(lemma.round, v) for v in lemma.round.variables}
        write = Expected(self.theorem.plain(moment, names), lemma.parameters | {BEFORE: before}, self.drawn)
        relation = "<=" if lemma.claim.relation == "<=" else "="
        claim = f"{write.number(lemma.left)} {relation} {write.number(lemma.right)}"
        lines = [f"assert (here_is : {claim}).", f"{{ refine ({term}){tactics}. }}"]
        return [*lines, "rewrite ?average_constant in here_is."] if self.drawn else lines

    # ---- the proof

    @property
    def unfold(self) -> str:
        return f"unfold {', '.join(self.atoms.values())}; cbv beta" if self.atoms else "idtac"

    def whole(self) -> str:
        """The lemmas, the theorem, and its proof."""
        theorem = self.theorem
        claim, lines = theorem.claim, theorem.derivation.lines
        self.writer = Writer({}, Names({**theorem.master.parameters, BEFORE: "(INR j)"}), "everyone")
        if claim.relation != "<=" or not isinstance(lines[-1], proofs.Combine):
            raise Missing("a claim about a run of this form")
        for place, line in enumerate(lines[:-1], 1):
            add_up(self, line, place)
        last = last_line(self, lines[-1])
        board_of_last_line(self, last)
        self.leftovers = leftovers_of(self, last)
        body, self.out = self.out, []
        kept_by_rounds(self)
        kept, self.out = self.out, []
        introduce_parameters(self)
        start, self.out = self.out, []
        conclude_run(self)
        statement = self.display.statement(self.theorem.used.values())
        names = self.display.names(self.theorem.used.values())
        atoms = [f"  pose ({name} := {self._defined(of, name)})." for of, name in self.atoms.items()]
        intro = f"  intros {' '.join(names)}."
        script = "\n".join(["Proof.", intro, *atoms, *start, *kept, *body, *self.out, "Qed."])
        return self.finish(
            "\n\n".join([*self.ratio_lemmas, *self.known.lemmas, *self.scripts, f"{statement}\n{script}"])
        )

    def _defined(self, of: Number, name: str) -> str:
        plain = self.theorem.plain(self.moment).number(of)
        if name in self.fixed:
            return plain
        return f"fun {self.moment} : {'list W' if self.drawn else 'nat'} => {plain}"

    def entries_of(self, of: Combination) -> tuple[str, Number]:
        """The combination as a list for `total`, and the number that it has beside."""
        rest = number(0)
        entries = []
        for c, atom in of:
            if atom is None:
                rest = rest + c
            elif (name := self.atom(atom)) in self.fixed:
                rest = rest + c * Number("parameter", (name,))
            else:
                entries.append(f"({self.writer.number(c)}, {name})")
        return f"({' :: '.join([*entries, 'nil'])})", rest

    def positive(self, formula: Number) -> str:
        return f"exact (@SIGN {self.writer.number(formula)} @)"

    def sums_of(self, where: str) -> str:
        """The tactic that names the sums of powers."""
        return f"{self.named_sums()} in {where}"

    def written(self, of: Number) -> str:
        return self.writer.factor(of)

    @property
    def identity(self) -> str:
        return "IDENTITY"

    # ---- the last line

    def named_sums(self) -> str:
        equations = [f"{known.sum.args[0]}_is" for known in self.theorem.terms.ratios if not known.is_one]
        return f"rewrite {', '.join(f'?{e}' for e in [*equations, 'rounds_is'])}"

    # ---- parameters and the end


def kept_by_rounds(script: RunScript) -> None:
    """Says the proof that the invariants hold before every round; `always_h` is that of the memory h."""
    invariants = script.theorem.derivation.invariants
    if not invariants:
        return
    claims, begins, keeps = [], [], []
    for place, (what, always) in enumerate(invariants, 1):
        sort, _, part = what.partition(" ")
        term = Vector("server", (0,)) if what == "server" else Vector(sort, (part, 0))
        new = after_round(term)
        begins.append(script.lemma(f"{place}_begins", term, always, (), (), "start", "="))
        keeps.append(script.lemma(f"{place}_kept", new, after_round(always), (), (), "round", "="))
        name = str(script.theorem.round.vector(term).args[0])
        texts = {v: script.theorem.in_round(v, script.moment) for v in list(script.theorem.round.variables)}
        write = Writer(texts, script.theorem.master.parameters, script.theorem.setting.draws.scheme,
                       function="EF" if script.drawn else "F")  # fmt: skip
        equation = f"{texts[name]} = ({write.vector(script.theorem.round.vector(always))})%V"
        claims.append((name, equation))
    length, bullet = "length past" if script.drawn else "j", "+ " if len(claims) > 1 else ""
    whole = " /\\ ".join(f"({equation})" for _, equation in claims)
    script.say(f"assert (kept : forall {script.moment}, ({length} <= rounds)%nat -> {whole}).")
    script.say(f"{{ induction {script.moment} as [| {'o past' if script.drawn else 'j'} before]; intro known.")
    script.say("- " + "repeat split." if len(claims) > 1 else "-")
    for begin in begins:
        applied, tactics = script.theorem.applied(begin, script.first)
        script.say(f"  {bullet}refine ({applied}){tactics}.")
    script.say(f"- assert (short : ({length} < rounds)%nat) by (simpl in known; lia).")
    script.say(f"  assert (earlier : ({length} <= rounds)%nat) by lia. specialize (before earlier). clear known.")
    pattern = " & ".join(f"before_{name}" for name, _ in claims)
    script.say(f"  destruct before as ({pattern})." if len(claims) > 1 else f"  rename before into {pattern}.")
    script.say("  repeat split." if len(claims) > 1 else "  idtac.")
    for place, kept in enumerate(keeps, 1):
        applied, tactics = script.theorem.applied(kept, script.moment)
        for name, _ in claims:
            tactics = tactics.replace(f"always_{name} {script.moment} known", f"before_{name}")
        names = {v: script.theorem.round.same_as(kept.round, v) for v in kept.round.variables}
        write = Writer({v: script.theorem.in_round(mine, script.moment) for v, mine in names.items()},
                       kept.parameters, kept.draws, function="EF" if script.drawn else "F")  # fmt: skip
        claim = f"({write.vector(kept.left)})%V = ({write.vector(kept.right)})%V"
        script.say(f"  {bullet}assert (kept_{place} : {claim}).")
        script.say(f"    {{ refine ({applied}){tactics}. }}")
        if script.drawn:
            script.say(f"    exact (f_equal (fun u : random W C V => (fun _ => u o) : random W C V) kept_{place}). ")
        else:
            script.say(f"    exact kept_{place}.")
    script.out[-1] += " }"
    for place, (name, equation) in enumerate(claims):
        proof = f"kept {script.moment} known"
        for _ in range(place):
            proof = f"proj2 ({proof})"
        if place < len(claims) - 1:
            proof = f"proj1 ({proof})"
        script.say(f"assert (always_{name} : forall {script.moment}, ({length} <= rounds)%nat -> {equation}).")
        script.say(f"{{ intros {script.moment} known. exact ({proof}). }}")
