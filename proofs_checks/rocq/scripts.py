"""The proof of a theorem in Rocq, written from the proof as data: a lemma of the library for every rule.

What the kernel's board knows, such as which two points are one, only chooses what is written; Rocq proves it again.
"""

from collections.abc import Iterator
from typing import final

from fedconvex.claims.terms import Number, Vector, gradient, parts
from fedconvex.proofs_checks.kernel.formulas import is_of_parameters
from fedconvex.proofs_checks.rocq.cited_claims import InCase
from fedconvex.proofs_checks.rocq.drawn_lengths import name_drawn_lengths
from fedconvex.proofs_checks.rocq.lengths import Length
from fedconvex.proofs_checks.rocq.objective import objective_lemmas
from fedconvex.proofs_checks.rocq.parameter_signs import ParameterSigns
from fedconvex.proofs_checks.rocq.script_lines import conclude, factors_of, prove_line, signs_in
from fedconvex.proofs_checks.rocq.script_points import name_gradients, name_lengths, name_values, selected_points
from fedconvex.proofs_checks.rocq.steps import ROOTED, TheoremSteps
from fedconvex.proofs_checks.rocq.terms import Writer
from fedconvex.proofs_checks.rocq.theorems import TheoremText, divisors


@final
class Script:
    """The script of one theorem. `whole` has the theorem, too."""

    def __init__(self, theorem: TheoremText):
        self.theorem, self.round, self.board = theorem, theorem.round, theorem.board
        self.read = TheoremSteps(theorem)
        self.steps, self.cited = self.read.steps, self.read.cited
        self.out: list[str] = []
        self.lengths: list[Length]
        self.length_names: list[str]
        self.drawn_lengths: list[Length] = []  # in the outcomes of a draw
        self.mean_names: list[str] = []  # of the expectations of their products
        self.value_names: list[str]
        self.unknown_gradients: list[tuple[str, Vector]]
        self.of_draw: list[str] = []  # names of the gradients at points that depend on the draw
        self.rewrites: list[tuple[str, str]]  # text of a gradient, and the equation that rewrites it

    @property
    def numbers(self) -> list[Number]:
        """All numbers in the proof, the last two those of the claim."""
        return [*(x for step in self.steps for x in step.numbers), *self._claimed]

    @property
    def _claimed(self) -> list[Number]:
        return [] if type(self.theorem.left) is Vector else [self.theorem.left, self.theorem.right]

    def vectors(self) -> Iterator[Vector]:
        for x in self.numbers:
            yield from (p for p in parts(x) if type(p) is Vector)
        for step in self.steps:
            if type(step.left) is Vector:
                yield from (p for side in (step.left, step.right) for p in parts(side) if type(p) is Vector)
        if type(self.theorem.left) is Vector:
            yield from (p for s in (self.theorem.left, self.theorem.right) for p in parts(s) if type(p) is Vector)
        for _, at, equals in self.round.gradients:
            yield from (p for side in (gradient(at), equals) for p in parts(side) if type(p) is Vector)
        for variable in self.round.variables.values():
            if variable.equals is not None:
                yield from (p for p in parts(variable.equals) if type(p) is Vector)

    def text(self) -> str:
        """The proof, from `Proof.` to `Qed.`"""
        self.out = [f"  intros {' '.join(self.theorem.introduced)}."]
        self._walk()
        self._law()
        self._parameters()
        self._citations()
        if self.round.path is not None and "local gradients" not in self.round.made:  # what is known of it was cited
            self.say(f"clear path_end path_start path_step {self.round.path.name}.")
        self._class()
        self._basis()
        name_gradients(self)
        name_values(self)
        name_lengths(self)
        name_drawn_lengths(self)
        for step in self.steps:
            prove_line(self, step)
        conclude(self)
        return "\n".join(["Proof.", *self.out, "Qed."])

    def whole(self) -> str:
        """Lemmas about signs, the theorem, and its proof."""
        proof = self.text()
        return "\n\n".join([*self.lemmas, f"{self.theorem.statement()}\n{proof}"])

    def say(self, line: str) -> None:
        self.out.append(f"  {line}")

    def _walk(self) -> None:
        """Where any number of local steps lead: the start less the stepsize times the sum of the gradients."""
        if self.round.path is None or "local gradients" not in self.round.made:
            return
        (theta,) = self.round.made["answers"].args
        equals = self.round.variables[theta].equals
        assert equals is not None
        self.say(f"assert ({theta}_is : {theta} = ({self.theorem.writer.vector(equals)})%V).")
        self.say("{ rewrite path_end, passed_is, <- path_start. apply end_of_steps. exact path_step. }")
        self.say(f"clear path_end passed_is path_start path_step {self.round.path.name}.")

    def _citations(self) -> None:
        """The cited theorems, at the vectors of this round."""
        for identifier, other in self.cited.items():
            name = identifier.replace(".", "_")
            left, right = self.read.cited_sides(other)
            case, draws = self.read.in_case(other), list(self.theorem.draw_names)
            given = ["1" if p in case.ones else self.theorem.parameters[p] for p in other.parameters]
            arguments = ["V", *self.theorem.sets, "f", *given, *draws]
            arguments += [self.round.same_as(other.round, variable) for variable in sorted(other.round.variables)]
            arguments += self.theorem.path_names if other.round.path is not None else []
            relation = "=" if other.claim.relation == "=" else "<="
            claim = f"{self.writer.number(left)} {relation} {self.writer.number(right)}"
            for place, line in enumerate(self._conditions_of(other), 1):
                self.say(f"assert ({name}_{place} : {line}.")
            decided = f"{self.writer.number(case.decided(left))} {relation} {self.writer.number(case.decided(right))}"
            self.say(f"assert ({name}_here : {decided}).")
            weaker = (
                "intros; eapply curvature_weaker_least; [eauto | order]",
                "intros; eapply curvature_weaker_most; [eauto | order]",
            )
            ways = ["assumption", "lra", "sign", *weaker]
            if other.setting.curvature != self.theorem.setting.curvature:  # `lra` would search in vain for them
                ways = ["assumption", *weaker, "lra", "sign"]
            by = f"first [{' | '.join(ways)}{self._fixed_here()}]"
            proof = f"apply ({name} {' '.join(arguments)}); {by}."
            if case.maxima:
                proof = f"assert (claimed : {claim}). {{ {proof} }} {self._put_maxima(case)} exact claimed."
            self.say(f"{{ {proof} }}")

    def _put_maxima(self, case: InCase) -> str:
        """The tactics that put the larger number in the place of every maximum of a cited claim."""
        tactics = []
        for of, first in case.maxima.items():
            x, y = of.args
            larger, difference, lemma = (x, x - y, "larger_first") if first else (y, y - x, "larger_second")
            shown = f"first [lra | {self.known.sign(difference)}]"
            tactics.append(f"replace ({self.writer.number(of)}) with ({self.writer.number(larger)}) in claimed")
            tactics[-1] += f" by (symmetry; apply {lemma}; {shown})."
        return " ".join(tactics)

    def _conditions_of(self, other: TheoremText) -> Iterator[str]:
        """What a cited theorem asks of the parameters and this one does not say, with a tactic that shows it."""
        mine = {(left, right) for left, _, right in self.theorem.setting.conditions}
        said = self.read.in_case(other).said
        for left, relation, right in map(said, other.setting.conditions):
            if (left, right) in mine or relation == "=":
                continue
            strictly = relation == ">"
            more = f"0 {'<' if strictly else '<='} {self.writer.number(left - right)}"
            known = len(self.known.lines)
            for below in divisors([left - right]):
                self.known.divisor(f"of_citation_{len(self.known.divisor_texts)}", below)
            self.out += [f"  {line}" for line in self.known.lines[known:]]
            how = self.known.sign(left - right, strictly)
            yield f"{more}) by first [lra | {how}]"

    def _fixed_here(self) -> str:
        """Another tactic for hypotheses of cited theorems: about memories that are gradients, and means of these."""
        equals = {v.name: v.equals.head for v in self.round.variables.values() if v.equals is not None}
        if not self.theorem.drawn or "gradient" not in equals.values():
            return ""
        rewritten = " | ".join(f"rewrite {name}_is" for name, head in equals.items() if head in ("gradient", "mean"))
        fixed = "is_fixed_vector (fun u => @fixed_gradient W C V f u)"
        return f" | (repeat first [{rewritten}]; first [{fixed} | intro; apply mean_is_shared])"

    def _class(self) -> None:
        """The class of the function of all clients."""
        lift = "" if self.theorem.one else "together_at_"
        for place, kind in ((0, "least"), (1, "most")):
            bound = self.theorem.setting.curvature[place]
            if bound is not None:
                given = self.theorem.writer.factor(bound)
                proof = kind if self.theorem.one else f"({lift}{kind} f _ {kind})"
                if self.theorem.drawn:
                    proof = f"({lift}{kind} (fun _ : W => together f) _ (fun _ => together_at_{kind} f _ {kind}))"
                self.say(f"assert (F_{kind} : curvature_at_{kind} {given} F) by exact {proof}.")
        if self.theorem.drawn:
            self.say("pose proof (fun u => @fixed_gradient W C V f u) as of_fixed. fold F in of_fixed.")
            if any(selected_points(self, u.args[0]) for u in self.vectors() if u.head == "gradient"):
                self.say("pose proof (fun u v => gradient_of_selected f d u v) as of_selected. fold F in of_selected.")
        self.out += [f"  {line}" for line in objective_lemmas(self.theorem)]
        self.say("clearbody F.")

    def _law(self) -> None:
        """The laws of the draw."""
        draws, write = self.theorem.setting.draws, self.theorem.writer
        if draws.scheme == "uniform":
            assert draws.active is not None
            assert draws.clients is not None
            active, clients = write.factor(draws.active), write.factor(draws.clients)
            bounds = [f"({text} : {x})" for text, x in (("P_one", f"1 <= {active}"), ("m_one", f"1 <= {clients}"),
                                                        ("P_m", f"{active} <= {clients}"))]  # fmt: skip
            for bound in bounds:
                self.say(f"assert {bound} by lra.")
            self.say("destruct (@uniform_law W C V _ _ d P_one m_one P_m) as")
            self.say("  (sg & sg_sign & sg_most & draw_scale & draw_scale_one & law).")
        elif draws.scheme == "independent":
            assert draws.active is not None
            self.say("assert (K_one : 1 <= INR n) by (rewrite <- draws_number; lra).")
            self.say("pose proof (@independent_law W C V n d K_one) as law. rewrite <- draws_number in law.")

    def _parameters(self) -> None:
        """Signs of divisors and of multipliers."""
        multipliers: list[Number] = []
        for step in self.steps:
            multipliers += [fact.difference for _, fact in step.facts if fact.proof == ROOTED]
            of_root = list(factors_of(step.right)) if step.root_of else []
            needed = [*(m for m, f in step.facts if not f.exact), *(c for c, _ in step.squares)]
            of_lengths = (x for m in needed if not is_of_parameters(m) for x in signs_in(m))
            multipliers += [*needed, *of_lengths, *of_root, *(x for _, fact in step.facts for x in fact.signs)]
        known = ParameterSigns(self.theorem, self.numbers, list(self.vectors()), multipliers)
        self.out += [f"  {line}" for line in known.lines]
        self.roots, self.lemmas, self.signs, self.known = known.roots, known.lemmas, known.signs, known

    def _basis(self) -> None:
        """Every vector as its mean and its deviation; the shared ones are means."""
        self.same: list[str] = []
        self.apart: list[str] = []
        self.split: dict[str, str] = {}
        for variable in self.round.variables.values():
            if variable.equals is not None:
                self.say(f"subst {variable.name}.")
        for variable in self.round.variables.values():
            name = variable.name
            if variable.equals is not None:
                self.split[name] = f"({self.theorem.writer_of(self.split).vector(variable.equals)})"
            elif variable.shared or self.theorem.one:
                self.split[name] = name
                self.same.append(name)
                if self.theorem.drawn:
                    self.say(f"pose proof (is_same_of _ {name}_fixed {name}_shared) as {name}_mean.")
                elif not self.theorem.one:
                    self.say(f"pose proof (mean_shared _ {name}_shared) as {name}_mean.")
            elif self.theorem.setting.single_client:
                self.split[name] = name
                self.same.append(name)
                self.say(f"pose proof (mean_of_single one_client {name}) as {name}_mean.")
            else:
                self.split[name] = f"({name}_b + {name}_d)"
                self.same.append(f"{name}_b")
                self.apart.append(f"{name}_d")
                self.say(self.split_tactic(name, name, f" {name}_fixed"))
                self.say(f"subst {name}.")
        self.within = self.theorem.writer_of(self.split)

    def split_tactic(self, name: str, text: str, proof: str) -> str:
        """The tactic that writes a family as its mean plus deviations."""
        lemma, more = ("split_random", f" & {name}_bf & {name}_df") if self.theorem.drawn else ("split_family", "")
        proof = proof if self.theorem.drawn else ""
        parts_ = f"({name}_b & {name}_d & {name}_is & {name}_bm & {name}_dm{more})"
        return f"destruct ({lemma} {text}{proof}) as {parts_}."

    @property
    def writer(self) -> Writer:
        return self.theorem.writer

    @property
    def same_tactic(self) -> str:
        return f"{self._kind}same_vector"

    @property
    def expand_tactic(self) -> str:
        return f"{self._kind}expand"

    @property
    def _kind(self) -> str:
        return "drawn_" if self.of_draw else "random_" if self.theorem.drawn else ""

    def canonical(self) -> str:
        """The tactic that writes every gradient by its name, those with others inside first."""
        longest = sorted(self.rewrites, key=lambda pair: -len(pair[0]))
        return f"repeat first [{' | '.join(f'rewrite {name}' for _, name in longest)} | fail]." if longest else ""

    # ---- lines

    def plain(self) -> str:
        """The tactic that writes values and lengths by their names."""
        names = [*self.value_names, *self.mean_names, *self.length_names, *self.roots.equations]
        return f"repeat first [{' | '.join(f'rewrite {name}' for name in names)} | fail]." if names else ""
