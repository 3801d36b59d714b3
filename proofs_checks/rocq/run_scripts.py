"""The proof of a theorem about a run: lemmas about one round, added up over the rounds."""

from collections.abc import Mapping
from typing import Any, final

from fedconvex.claims.claim import Claim
from fedconvex.claims.terms import Number, Vector, number, parameter, parts
from fedconvex.proofs_checks.kernel import proofs
from fedconvex.proofs_checks.kernel.formulas import after_round, is_of_parameters
from fedconvex.proofs_checks.rocq.parameter_signs import ParameterSigns
from fedconvex.proofs_checks.rocq.run_displays import RunDisplay
from fedconvex.proofs_checks.rocq.run_invariants import kept_by_rounds
from fedconvex.proofs_checks.rocq.run_sums import Expected, Key, Names, Sum, sum_of
from fedconvex.proofs_checks.rocq.run_terms import (
    BEFORE,
    ONE,
    Combination,
    RoundRatio,
    at_most_zero,
    combination,
)
from fedconvex.proofs_checks.rocq.runs import RunTheorem
from fedconvex.proofs_checks.rocq.scripts import Script
from fedconvex.proofs_checks.rocq.terms import Missing, Writer, divided
from fedconvex.proofs_checks.rocq.theorems import TheoremText, theorem_of_statement

UNFOLD = "cbn [total fold_right fst snd here]"


@final
class RunScript:
    """The script of a theorem about a run; `whole` has its lemmas and the theorem, too."""

    def __init__(self, theorem: RunTheorem):
        self.theorem, self.drawn = theorem, theorem.drawn
        self.atoms: dict[Number, str] = {}  # names of numbers at a moment, or of fixed ones
        self.fixed: set[str] = set()
        self.out: list[str] = []
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
            vectors = [p for p in parts(of) if p.head == "free"]
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
            self.writer.factor(c) if key is None else f"{self.writer.factor(c)} * {self._key(key)}"
            for c, key in of.terms
        ]
        return " + ".join(summands) or "0"

    def _key(self, key: Key) -> str:
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

    def lines_for(self, facts: Any) -> tuple[Any, ...]:
        """The lines about any round that these facts rest on."""
        known = {line.name: line for line in self.theorem.derivation.of_round}
        needed: set[str] = set()
        waiting = [f.line for _, f in facts if isinstance(f, proofs.Earlier)]
        while waiting:
            name = waiting.pop()
            if name in needed or name not in known:
                continue
            needed.add(name)
            line = known[name]
            waiting += [line.of] if isinstance(line, proofs.Root) else []
            waiting += [f.line for _, f in getattr(line, "facts", ()) if isinstance(f, proofs.Earlier)]
        return tuple(line for line in self.theorem.derivation.of_round if line.name in needed)

    def lemma(self, name: str, left: Any, right: Any, facts: Any, squares: Any, when: str = "round",
              relation: str = "<=") -> TheoremText:  # fmt: skip
        """A lemma about one moment, with its proof."""
        line = proofs.Combine(left, right, facts, squares, relation)
        made = self.theorem.lemma(name, Claim(left, relation, right), (*self.lines_for(facts), line), when)
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
    def unfolded(self) -> str:
        return f"unfold {', '.join(self.atoms.values())} in *; cbv beta in *" if self.atoms else "idtac"

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
        body: list[str] = []
        keep = self.out
        for place, line in enumerate(lines[:-1], 1):
            self.out = []
            self._added_up(line, place)
            body += self.out
        self.out = []
        last = self._last(lines[-1])
        self._last_board(last)
        self.leftovers = self._leftovers(last)
        body += self.out
        self.out = keep
        self.out = []
        kept_by_rounds(self)
        kept = self.out
        self.out = []
        self._parameters()
        start = self.out
        self.out = []
        self._conclude()
        proof = [*start, *kept, *body, *self.out]
        statement = self.display.statement(self.theorem.used.values())
        names = self.display.names(self.theorem.used.values())
        atoms = [f"  pose ({name} := {self._defined(of, name)})." for of, name in self.atoms.items()]
        intro = [f"  intros {' '.join(names)}."]
        script = "\n".join(["Proof.", *intro, *atoms, *proof, "Qed."])
        return self.finish(
            "\n\n".join([*self.ratio_lemmas, *self.known.lemmas, *self.scripts, f"{statement}\n{script}"])
        )

    def _defined(self, of: Number, name: str) -> str:
        plain = self.theorem.plain(self.moment).number(of)
        if name in self.fixed:
            return plain
        return f"fun {self.moment} : {'list W' if self.drawn else 'nat'} => {plain}"

    def _list(self, of: Combination) -> tuple[str, Number]:
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

    def _added_up(self, line: Any, place: int) -> None:
        """A line about all rounds."""
        name = line.name or f"line {place}"
        potential, ratio, error = line.potential, line.ratio, line.error
        telescope = isinstance(line, proofs.Telescope)
        gain = line.gain if telescope else number(0)
        later = after_round(potential).put(parameter(BEFORE), parameter(BEFORE) + 1)
        start, end = (
            potential.put(parameter(BEFORE), number(0)),
            potential.put(parameter(BEFORE), parameter(self.theorem.count)),
        )
        known = self.theorem.terms.ratio(ratio)
        left, right = (ratio * later + gain, potential + error) if telescope else (later, ratio * potential + error)
        lemma = self.lemma(f"round_{place}", left, right, line.facts, line.squares)
        before, after = self.combined(potential), self.combined(potential.put(parameter(BEFORE), parameter(BEFORE) + 1))
        gains = [] if gain == number(0) else self.combined(gain)
        v, k = self._list(before)
        next_k = self._list(after)[1]
        later_v, later_k = (t.replace("INR j", "INR (S j)") for t in (v, self._written(k)))
        g, kg = self._list(gains)
        w, r, e = self._written, self.writer.factor(known.ratio), self._written(error)
        if telescope:
            gained = f"(total {g} (E j) + {w(kg)})"
            goal = f"0 <= total {v} (E j) + {w(k)} + {e} - {r} * (total {later_v} (E (S j)) + {later_k}) - {gained}"
        else:
            goal = f"0 <= {r} * (total {v} (E j) + {w(k)}) + {e} - (total {later_v} (E (S j)) + {later_k})"
        goal = goal.replace("E ", "after " if self.drawn else "here ")
        self.say(f"assert (round_{place} : forall j, (j < rounds)%nat -> {goal}).")
        self.say("{ intros j a_round. rewrite ?S_INR. pose proof (pos_INR j) as before_sign.")
        factor = number(-1) * known.ratio if telescope else number(-1)
        times = ONE if telescope else known.ratio
        nexts, _ = self._list([(factor * c, atom) for c, atom in after])
        heres, _ = self._list([*((times * c, atom) for c, atom in before), *((number(-1) * c, a) for c, a in gains)])
        if telescope:
            rest = k + error - known.ratio * next_k - kg
        else:
            rest = known.ratio * k + error - next_k
        if self.drawn:
            self.say(f"pose proof (round_in_expectation j {nexts} {heres} {self._written(rest)}) as added.")
            self.say(f"{UNFOLD} in *. eapply same_difference; [apply added; clear added | {UNFOLD}; {self.identity}].")
            self.say("intros past of_length. assert (short : (length past < rounds)%nat) by lia.")
            self.say("assert (known : (length past <= rounds)%nat) by lia.")
        else:
            self.say("assert (short : (j < rounds)%nat) by lia. assert (known : (j <= rounds)%nat) by lia.")
        for tactic in self.use(lemma, self.moment, "(INR j)"):
            self.say(tactic)
        self.say(f"apply (same_difference _ _ _ here_is). {UNFOLD}; {self.unfold}; {self.identity}. }}")
        self.facts[name] = self._of_all(telescope, known, start, end, gain, error)
        lemma_name = "telescope" if telescope else "iterate"
        of = "(@after W)" if self.drawn else "here"
        arguments = f"{r} {e} rounds {of} (fun j => {v}) (fun j => {w(k)})"
        arguments += f" {g} {w(kg)}" if telescope else ""
        self.multipliers.append(known.ratio)
        self.say(f"assert (line_{place} : 0 <= {self.text(self.facts[name])}).")
        self.say(f"{{ pose proof ({lemma_name} {arguments}) as all_rounds.")
        self.say(f"lapply all_rounds; [clear all_rounds; intro all_rounds | {self._positive(known.ratio)}].")
        self.say(f"specialize (all_rounds round_{place}). {UNFOLD} in all_rounds. change (INR 0) with 0 in all_rounds.")
        self.say(self._powers("all_rounds"))
        self.say(f"apply (same_difference _ _ _ all_rounds). cbn [after]; {self.identity}. }}")
        self.proofs_of[name] = f"line_{place}"

    def _positive(self, formula: Number) -> str:
        return f"exact (@SIGN {self.writer.number(formula)} @)"

    def _of_all(
        self, telescope: bool, known: RoundRatio, start: Number, end: Number, gain: Number, error: Number
    ) -> Sum:  # fmt: skip
        """What the line says is >= 0."""
        begun, ended = self.sum_of(start, "start"), self.sum_of(end, "end")
        place = str(self.theorem.terms.ratios.index(known))
        errors = Sum([(error * known.sum, None)])
        if telescope:
            gains = self.sum_of(gain, place)
            found = begun.plus(errors).plus(ended.times(number(-1) * known.power()))
            return found.plus(gains.times(number(-1)))
        return begun.times(known.power()).plus(errors).plus(ended.times(number(-1)))

    def _powers(self, where: str) -> str:
        """The tactic that writes powers and their sums by names in a hypothesis."""
        powers = [f"?(weights_power {self.writer.factor(known.ratio)} rounds)" for known in self.theorem.terms.ratios]
        return f"rewrite {', '.join(powers)}, ?weights_ones in {where}; {self.sums_of(where)}."

    def sums_of(self, where: str) -> str:
        """The tactic that names the sums of powers."""
        equations = [f"{known.sum.args[0]}_is" for known in self.theorem.terms.ratios if not known.is_one]
        equations.append("rounds_is")
        return f"rewrite {', '.join(f'?{e}' for e in equations)} in {where}"

    def _written(self, of: Number) -> str:
        return self.writer.factor(of)

    @property
    def identity(self) -> str:
        return "IDENTITY"

    # ---- the last line

    def _last(self, line: Any) -> Sum:
        """What the last line adds up; the facts are in the context afterwards."""
        whole = Sum()
        self.summands: list[tuple[Number, str, Sum]] = []
        for place, (multiplier, fact) in enumerate(line.facts, 1):
            name, of = self._fact(fact, place)
            self.summands.append((multiplier, name, of))
            self.multipliers.append(multiplier)
            whole = whole.plus(of.times(multiplier))
        claim = self.theorem.claim
        claimed = self.in_run(claim.right).plus(self.in_run(claim.left).times(number(-1)))
        self._equalities(claimed)
        return claimed.plus(whole.times(number(-1)))

    def _fact(self, fact: Any, place: int) -> tuple[str, Sum]:
        match fact:
            case proofs.Earlier(line) if line in self.facts:
                return self.proofs_of[line], self.facts[line]
            case proofs.During(("start" | "end") as when, facts, squares, _):
                return self._moment(when, facts, squares, place)
            case proofs.Jensen(u, ratio):
                return self._jensen(u, ratio, place)
            case proofs.Nonnegative(of):
                self.multipliers.append(of)
                return f"@SIGN {self.writer.number(of)} @", Sum([(of, None)])
        raise Missing(f"{type(fact).__name__} in a run")

    def _moment(self, when: str, facts: Any, squares: Any, place: int) -> tuple[str, Sum]:
        """What holds at the start or at the end."""
        known = {line.name: line for line in self.theorem.derivation.of_round}

        def claim_of(identifier: str) -> Any:
            return theorem_of_statement(identifier).claim

        total: Number = number(0)
        for multiplier, fact in facts:
            total = total + multiplier * at_most_zero(fact, self.theorem.setting, known, claim_of)
        for weight, vector in squares:
            total = total + weight * Number("inner", (vector, vector))
        lemma = self.lemma(
            f"{when}_{place}" if when == "start" else f"{place}_end", number(0), total, facts, squares, when
        )
        of = self.sum_of(total, when)
        name = f"fact_{place}"
        if when == "start" or not self.drawn:
            self.say(f"assert ({name} : 0 <= {self.text(of)}).")
            at = self.first if when == "start" else "rounds"
            if when == "end":
                self.say("{ assert (known : (rounds <= rounds)%nat) by lia.")
            else:
                self.say("{ idtac.")
            for tactic in self.use(lemma, at):
                self.say(tactic)
            self.say(f"apply (same_difference _ _ _ here_is). {self.unfold}; {self.identity}. }}")
            return name, of
        entries, rest = self._list(self.combined(total))
        self.say(f"assert ({name} : 0 <= {self.text(of)}).")
        self.say(f"{{ pose proof (in_expectation rounds {entries} {self._written(rest)}) as expected.")
        self.say(f"{UNFOLD} in *. eapply same_difference; [apply expected; clear expected | {self.identity}].")
        self.say("intros past of_length. assert (known : (length past <= rounds)%nat) by lia.")
        for tactic in self.use(lemma, "past"):
            self.say(tactic)
        self.say(f"apply (same_difference _ _ _ here_is). {UNFOLD}; {self.unfold}; {self.identity}. }}")
        return name, of

    def _jensen(self, u: Vector, ratio: Number, place: int) -> tuple[str, Sum]:
        known = self.theorem.terms.ratio(ratio)
        at = str(self.theorem.terms.ratios.index(known))
        values = self.sum_of(Number("value", (u,)), at)
        of = values.times(1 / known.sum).plus(Sum([(number(-1), ("mean", self.display.value_at_mean(ratio, u)))]))
        least = self.theorem.setting.curvature[0]
        if least is None:
            raise Missing("Jensen's inequality for a class of the objective")
        self.multipliers += [known.ratio, least]
        name = f"fact_{place}"
        vector = self.display.vector(u, self.moment)
        domain = "list W" if self.drawn else "nat"
        lemma = "jensen_after" if self.drawn else "jensen_of_rounds"
        self.say(f"assert ({name} : 0 <= {self.text(of)}).")
        self.say("{ assert (convex : curvature_at_least 0 F).")
        self.say(f"{{ apply (curvature_weaker_least F {self.writer.factor(least)});")
        self.say(f"[exact (together_at_least f _ least) | {self._positive(least)}]. }}")
        self.say(f"pose proof ({lemma} F convex {self.writer.factor(known.ratio)} rounds")
        self.say(f"(fun {self.moment} : {domain} => ({vector})%V)) as jensen.")
        self.say(f"lapply jensen; [clear jensen; intro jensen | {self._positive(known.ratio)}].")
        self.say(f"lapply jensen; [clear jensen; intro jensen | rewrite ?weights_ones; {self._named_sums()}; lra].")
        self.say(f"rewrite ?weights_ones in jensen; {self.sums_of('jensen')}.")
        self.say(f"apply (same_difference _ _ _ jensen). {self.unfold}; {self.identity}. }}")
        return name, of

    def _named_sums(self) -> str:
        equations = [f"{known.sum.args[0]}_is" for known in self.theorem.terms.ratios if not known.is_one]
        return f"rewrite {', '.join(f'?{e}' for e in [*equations, 'rounds_is'])}"

    # ---- parameters and the end

    def _last_board(self, last: Sum) -> None:
        """The parameters of the last line, with all sums of powers."""
        theorem, zero = self.theorem, number(0)
        every = [c for _, _, of in self.summands for c, _ in of.terms]
        self.claims = [*self.multipliers, *every, *(c for c, _ in last.terms)]
        sums = [term for known in theorem.terms.ratios for term in (known.sum, known.power())]
        setting = theorem.terms.setting_for(*self.claims, *sums)
        rooted = [term for term in dict.fromkeys(self.claims) if any(p.head == "root" for p in parts(term))]
        self.final = TheoremText(theorem.name, setting, Claim(zero, "<=", sum(rooted, start=zero)), proofs.Derivation())

    def _parameters(self) -> None:
        """What is known of the parameters."""
        theorem = self.theorem
        powers = [known.power() for known in theorem.terms.ratios]
        self.known = ParameterSigns(self.final, [*self.claims, *powers], [], self.multipliers)
        self.say(f"assert (rounds_is : INR rounds = {theorem.master.parameters[theorem.count]}) by lra.")
        self.say("assert (a_round_at_least : (1 <= rounds)%nat) by (apply a_round_at_least; lra).")
        if theorem.setting.draws.scheme == "uniform":
            self.say("assert (any_scale : exists sg, 0 <= sg <= 1) by (exists 0; lra).")
            self.say("destruct any_scale as (sg & sg_sign & sg_most).")
        for known in theorem.terms.ratios:
            if known.is_one:
                continue
            (name,) = known.sum.args
            ratio = self.writer.factor(known.ratio)
            strict = theorem.terms.parameters.field.is_positive(theorem.terms.parameters.value(known.ratio))
            relation, lemma = ("<", "pow_lt") if strict else ("<=", "pow_le")
            self.say(f"assert ({name}_ratio : 0 {relation} {ratio}).")
            self._ratio_sign(name, known, strict)
            self.say(f"assert ({name}_most : 1 <= weights {ratio} rounds) by (apply weights_most; [lra | assumption]).")
            self.say(f"assert ({name}_power : 0 {relation} 1 + ({ratio} - 1) * weights {ratio} rounds)")
            self.say(f"  by (rewrite <- weights_power; apply {lemma}; assumption).")
            self.say(f"destruct (a_name (weights {ratio} rounds)) as ({name} & {name}_is).")
            self.say(f"rewrite {name}_is in {name}_most, {name}_power. assert ({name}_sign : 0 < {name}) by lra.")
        self.out += [f"  {line}" for line in self.known.lines]

    def _ratio_sign(self, name: str, known: RoundRatio, strict: bool) -> None:
        """The sign of a ratio, from what is known without any sum of its powers."""
        zero, setting = number(0), self.theorem.master.setting
        rooted = known.ratio if any(p.head == "root" for p in parts(known.ratio)) else zero
        alone = TheoremText(f"{self.theorem.name}_{name}", setting, Claim(zero, "<=", rooted), proofs.Derivation())
        signs = ParameterSigns(alone, [1 / known.ratio if strict else known.ratio], [], [known.ratio])
        self.ratio_lemmas += signs.lemmas
        self.say("{ " + "\n    ".join([*signs.lines, "first [assumption | lra]. }"]))

    def _conclude(self) -> None:
        leftovers = self.leftovers
        for line in self.display.rewriting(self):
            self.say(line)
        summands = [f"{self.writer.factor(m)} * ({self.text(of)})" for m, _, of in self.summands]
        summands += [text for text, _ in leftovers]
        self.say(f"apply (by_identity _ _ ({' + '.join(summands)})).")
        self.say(f"- {self.unfold}; {self.identity}.")
        steps = []
        entries = [(self.known.signs[self.writer.number(m)], name, False) for m, name, _ in self.summands]
        entries += [("", name, True) for _, name in leftovers]
        for place in reversed(range(len(entries))):
            sign, name, exact = entries[place]
            how, _, known = name.rpartition(", ")
            one = (
                f"{'apply times_zero; ' if how == 'times_zero' else ''}exact {known}"
                if exact
                else f"apply Rmult_le_pos; [exact {sign} | exact {name}]"
            )
            if exact:
                steps.append(f"apply nonneg_zero; [| {one}].")
            else:
                steps.append(f"apply plus_nonneg; [| {one}]." if place else f"{one}.")
        self.say("- " + " ".join(steps))
        signs = self.known.signs
        identity = self.known.roots.identity

        def finished(line: str) -> str:
            while "@SIGN " in line:
                before, _, rest = line.partition("@SIGN ")
                inside, _, after = rest.partition(" @")
                line = before + signs[inside] + after
            return line.replace("IDENTITY", identity)

        self.finish = finished

    def _leftovers(self, last: Sum) -> list[tuple[str, str]]:
        """Equations between numbers at the start that the sum of the facts needs: what is 0, and its proof."""
        value = self.final.board.parameters.value
        grouped: dict[Key | None, list[Number]] = {}
        for c, key in last.terms:
            grouped.setdefault(key, []).append(c)
        found: list[tuple[str, str]] = []
        for key, equal in self.equal_at_start.items():
            coefficients = grouped.pop(key, [])
            if not sum_of(coefficients, value):
                continue
            if equal is not None:
                grouped.setdefault(equal, []).extend(coefficients)
            factor = " + ".join(self.writer.factor(c) for c in coefficients)
            instead = "0" if equal is None else self._key(equal)
            found.append((f"({factor}) * ({self._key(key)} - {instead})", f"times_zero, equal_{key[1]}"))
        left = {key: total for key, of in grouped.items() if (total := sum_of(of, value))}
        if any(key is None or key[0] not in ("", "start") for key in left):
            raise Missing(f"an identity between numbers of a run: {list(left)}")
        if left:
            found.append(self._relation(left))
        return found

    def _relation(self, left: Mapping[Any, Any]) -> tuple[str, str]:
        """A linear relation between numbers at the start."""
        terms = {name: of for of, name in self.atoms.items()}
        claimed, text = number(0), []
        for key, coefficient in left.items():
            c = divided(coefficient)
            self.claims.append(c)
            claimed = claimed + c * self.theorem.as_claimed(terms[key[1]])
            text.append(f"{self.writer.factor(c)} * {self._key(key)}")
        lemma = self.lemma("begun", number(0), claimed, (), (), "start", "=")
        if lemma.board.number(claimed).terms:
            raise Missing(f"an identity between numbers of a run: {list(left)}")
        self.say(f"assert (begun : {' + '.join(text)} = 0).")
        self.say("{ idtac.")
        for tactic in self.use(lemma, self.first):
            self.say(tactic)
        self.say(f"apply (equal_difference _ _ _ here_is). {self.unfold}; {self.identity}. }}")
        return f"({' + '.join(text)})", "exact, begun"

    def _equalities(self, claimed: Sum) -> None:
        """Numbers at the start that are others there, since the first state is known."""
        first = [key for _, key in claimed.terms if key is not None]
        every = [key for _, _, of in self.summands for _, key in of.terms if key is not None]
        terms = {name: of for of, name in self.atoms.items()}
        board = self.theorem.master.board.at_its_start()
        known: list[tuple[Key, Any]] = []
        self.equal_at_start: dict[Key, Key | None] = {}
        for key in dict.fromkeys([*first, *every]):
            if key[0] not in ("", "start"):
                continue
            term = self.theorem.as_claimed(terms[key[1]])
            quantity = board.number(term)
            same = next((k for k, q in known if not (q - quantity).terms), None)
            if (same is None and quantity.terms) or (key[0] == "" and same is None):
                known.append((key, quantity))
                continue
            self.equal_at_start[key] = same
            other = number(0) if same is None else self.theorem.as_claimed(terms[same[1]])
            lemma = self.lemma(f"equal_{key[1]}", term, other, (), (), "start", "=")
            instead = "0" if same is None else self._key(same)
            self.say(f"assert (equal_{key[1]} : {self._key(key)} - {instead} = 0).")
            self.say("{ idtac.")
            for tactic in self.use(lemma, self.first):
                self.say(tactic)
            self.say(f"apply Rminus_diag_eq. {self.unfold}. exact here_is. }}")
