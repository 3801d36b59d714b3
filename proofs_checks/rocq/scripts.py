"""The proof of a theorem in Rocq, written from the proof as data: a lemma of the library for every rule.

What the kernel's board knows, such as which two points are one, only chooses what is written; Rocq proves it again.
"""

from collections.abc import Iterator
from typing import Any, final

from fedconvex.claims.terms import Number, Vector, gradient, inner, norm, parts, value
from fedconvex.proofs_checks.kernel.formulas import is_of_parameters
from fedconvex.proofs_checks.kernel.vectors import APART, SAME, Monomial, Quantity, Vec
from fedconvex.proofs_checks.rocq.lengths import FreeProducts, Length, ratio
from fedconvex.proofs_checks.rocq.parameter_signs import ParameterSigns
from fedconvex.proofs_checks.rocq.resting import eliminations
from fedconvex.proofs_checks.rocq.steps import CANONICAL, Step, TheoremSteps
from fedconvex.proofs_checks.rocq.terms import Missing, Writer, divided, number_of
from fedconvex.proofs_checks.rocq.theorems import TheoremText, divisors


@final
class Script:
    """The script of one theorem. `whole` has the theorem, too."""

    def __init__(self, theorem: TheoremText):
        self.theorem, self.round, self.board = theorem, theorem.round, theorem.board
        self.read = TheoremSteps(theorem)
        self.steps, self.cited = self.read.steps, self.read.cited
        self.out: list[str] = []

    @property
    def numbers(self) -> list[Number]:
        """All numbers in the proof, the last two those of the claim."""
        return [*(x for step in self.steps for x in step.numbers), *self._claimed]

    @property
    def _claimed(self) -> list[Number]:
        return [] if type(self.theorem.left) is Vector else [self.theorem.left, self.theorem.right]

    def _vectors(self) -> Iterator[Vector]:
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
        hypotheses = [*self.theorem.hypotheses, *self.theorem.round_hypotheses()]
        variables = self.round.variables
        names = ["V", *self._sets, "f", "F", *self.theorem.parameters.values(), *self._draw,
                 *sorted(variables), *(h.name for h in hypotheses)]  # fmt: skip
        self.out = [f"  intros {' '.join(names)}."]
        self._citations()
        self._class()
        self._parameters()
        self._basis()
        self._gradients()
        self._values()
        self._lengths()
        for step in self.steps:
            self._prove(step)
        self._conclude()
        return "\n".join(["Proof.", *self.out, "Qed."])

    def whole(self) -> str:
        """Lemmas about signs, the theorem, and its proof."""
        proof = self.text()
        return "\n\n".join([*self.lemmas, f"{self.theorem.statement()}\n{proof}"])

    @property
    def _sets(self) -> list[str]:
        return [] if self.theorem.one else ["C", "W"] if self.theorem.drawn else ["C"]

    @property
    def _draw(self) -> list[str]:
        return ["n", "d"] if self.theorem.draws == "independent" else ["d"] if self.theorem.drawn else []

    def say(self, line: str) -> None:
        self.out.append(f"  {line}")

    def _citations(self) -> None:
        """The cited theorems, at the vectors of this round."""
        for identifier, other in self.cited.items():
            name = identifier.replace(".", "_")
            left, right = self.read.term(other.claim.left), self.read.term(other.claim.right)
            draws = list(self._draw)
            arguments = ["V", *self._sets, "f", *(self.theorem.parameters[p] for p in other.parameters), *draws]
            arguments += [self.round.same_as(other.round, variable) for variable in sorted(other.round.variables)]
            relation = "=" if other.claim.relation == "=" else "<="
            claim = f"{self.writer.number(left)} {relation} {self.writer.number(right)}"
            self.say(f"assert ({name}_here : {claim}).")
            weaker = (
                "intros; eapply curvature_weaker_least; [eauto | order]",
                "intros; eapply curvature_weaker_most; [eauto | order]",
            )
            by = f"first [assumption | lra | sign | {weaker[0]} | {weaker[1]}{self._fixed_here()}]"
            self.say(f"{{ apply ({name} {' '.join(arguments)}); {by}. }}")

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
            if any(self._selected(u.args[0]) for u in self._vectors() if u.head == "gradient"):
                self.say("pose proof (fun u v => gradient_of_selected f d u v) as of_selected. fold F in of_selected.")
        self.say("clearbody F.")
        self._law()

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
            of_root = list(_factors(step.right)) if step.root_of else []
            multipliers += [*(m for m, f in step.facts if not f.exact), *(c for c, _ in step.squares), *of_root]
        known = ParameterSigns(self.theorem, self.numbers, list(self._vectors()), multipliers)
        self.out += [f"  {line}" for line in known.lines]
        self.roots, self.lemmas, self.signs, self.known = known.roots, known.lemmas, known.signs, known

    def _positive(self, formula: Number, size: Any) -> tuple[Number, str]:
        """A formula that multiplies a length, and the tactic that shows that it is >= 0."""
        if "-" not in self.roots.text(formula) or self.roots.names:
            return formula, "sign"
        formula, known = divided(size), len(self.known.lines)
        for below in divisors([formula]):
            self.known.divisor(f"of_length_{len(self.known.divisor_texts)}", below)
        for line in self.known.lines[known:]:
            self.say(line)
        return formula, self.known.sign(formula)

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
            else:
                self.split[name] = f"({name}_b + {name}_d)"
                self.same.append(f"{name}_b")
                self.apart.append(f"{name}_d")
                self.say(self._split(name, name, f" {name}_fixed"))
                self.say(f"subst {name}.")
        self.within = self.theorem.writer_of(self.split)

    def _split(self, name: str, text: str, proof: str) -> str:
        """The tactic that writes a family as its mean plus deviations."""
        lemma, more = ("split_random", f" & {name}_bf & {name}_df") if self.theorem.drawn else ("split_family", "")
        proof = proof if self.theorem.drawn else ""
        parts_ = f"({name}_b & {name}_d & {name}_is & {name}_bm & {name}_dm{more})"
        return f"destruct ({lemma} {text}{proof}) as {parts_}."

    @property
    def writer(self) -> Writer:
        return self.theorem.writer

    @property
    def _same(self) -> str:
        return "random_same_vector" if self.theorem.drawn else "same_vector"

    @property
    def _expand(self) -> str:
        return "random_expand" if self.theorem.drawn else "expand"

    def _gradients(self) -> None:
        """A name for the gradients at every point; points that are one have one."""
        at_points: dict[Any, tuple[Vector, str]] = {}
        self.rewrites: list[tuple[str, str]] = []  # text of a gradient, and the equation that rewrites it
        known: set[str] = set()
        others: list[tuple[str, str, Vector]] = []
        self.unknown_gradients: list[tuple[str, Vector]] = []
        for name, at, _ in self.round.gradients:
            text = self._gradient(at)
            self.rewrites.append((text, name))
            known.add(text)
            at_points[self._key(at)] = (at, name)
        terms = dict.fromkeys(u.args[0] for u in self._vectors() if u.head == "gradient")
        for at in list(terms):
            if both := self._selected(at):
                terms |= dict.fromkeys(both)
        for at in sorted(terms, key=_depth):
            text = self._gradient(at)
            if text in known:
                continue
            known.add(text)
            key, name = self._key(at), f"g{len(known)}"
            if key in at_points:
                others.append((name, text, at_points[key][0]))
                continue
            at_points[key] = (at, f"{name}_is")
            self.rewrites.append((text, f"{name}_is"))
            self._new_gradient(name, text, at)
        self._state_basis()
        self._rest()
        for name, text, first in others:
            self.say(f"assert ({name}_is : {text} = {self._gradient(first)}).")
            self.say(f"{{ f_equal. {self._canonical()} {self._same}; identity. }}")
            self.rewrites.append((text, f"{name}_is"))

    def _selected(self, at: Vector) -> tuple[Vector, Vector] | None:
        """The points u and v where this one is v for the drawn clients, and u for the others."""
        if at.head == "free" and (equals := self.round.variables[at.args[0]].equals) is not None:
            return self._selected(equals)
        match at.head, at.args:
            case "+", (u, Vector("named", ("selected", Vector("-", (v, again))))) if again == u:
                return u, v
        return None

    def _key(self, at: Vector) -> Any:
        """Equal for points that are one."""
        return self.board.round.put(self.round.meaning(at)).key

    def _gradient(self, at: Vector) -> str:
        return self.within.vector(gradient(at))

    def _new_gradient(self, name: str, text: str, at: Vector) -> None:
        if both := self._selected(at):
            old, new = map(self._gradient, both)
            self.say(f"assert ({name}_is : {text} = ({old} + selected d ({new} - {old}))%V) by apply of_selected.")
            return
        self.unknown_gradients.append((name, at))
        if self.round.meaning(at).is_random:
            raise Missing("a gradient at a point that depends on the draw")
        if self.theorem.drawn:
            self.say(f"assert ({name}_fixed : fixed ({text})) by is_fixed_vector of_fixed.")
        if self.theorem.one:
            self.say(f"destruct (a_name ({text})) as ({name} & {name}_is).")
            self.same.append(name)
        elif "minimiser" in self.round.made and at == self.round.made["minimiser"]:
            self.say(f"destruct (a_name ({text})) as ({name} & {name}_is). rewrite {name}_is in stationary.")
            if self.theorem.drawn:
                self.say(f"rewrite {name}_is in {name}_fixed.")
                self.say(f"pose proof (is_apart_of _ {name}_fixed stationary) as {name}_dm.")
            self.apart.append(name)
        else:
            self.say(self._split(name, f"({text})", f" {name}_fixed"))
            self.same.append(f"{name}_b")
            self.apart.append(f"{name}_d")

    def _state_basis(self) -> None:
        mean = "(fun u => u)" if self.theorem.one else "(@mean C V)"
        same, apart = ("".join(f"{v} :: " for v in vectors) + "nil" for vectors in (self.same, self.apart))
        law = "mean_of_one" if self.theorem.one else "mean_of_clients"
        if self.theorem.drawn:
            draws = self.theorem.setting.draws
            chance, sg, picks, kept = "0", "", "(mean_of_picks d)", "(fun _ => zero)"
            assert draws.active is not None
            active = self.theorem.writer.factor(draws.active)
            if draws.scheme == "uniform":
                assert draws.clients is not None
                chance = f"({active} / {self.theorem.writer.factor(draws.clients)})"
                sg, picks, kept = "sg", "(mean_of_drawn d)", "(selected d)"
            law_ = f"random_basis mean_of_all {picks} expectation {kept} {chance} {sg or f'(1 / {active})'}"
            self.say(f"assert (vectors : {law_} ({same}) ({apart})).")
            self.say("{ constructor; [exact law | repeat constructor; apply_conj | repeat constructor; apply_conj]. }")
            return
        self.say(f"assert (vectors : basis {mean} ({same}) ({apart})).")
        self.say(f"{{ constructor; [apply {law} | repeat constructor; assumption | repeat constructor; assumption]. }}")

    def _rest(self) -> None:
        """What a fixed point's equations eliminate."""
        moves = [(new, old, self._coordinates(new - old)) for new, old in self.theorem.rests]
        for one in eliminations(moves, self.board.field, self.within):
            for line in one.lines(self.within, self._canonical(), self.roots.identity):
                self.say(line)
            self.rewrites.append((one.name, f"{one.name}_is"))

    def _coordinates(self, u: Vector) -> Vec:
        """The vector in those of the proof's basis: means and deviations, by their names."""
        match u.head, u.args:
            case "free", (name,):
                variable = self.round.variables[name]
                if variable.equals is not None:
                    return self._coordinates(variable.equals)
                return self._of_basis((SAME, name) if variable.shared else None, name)
            case "gradient", (at,):
                key = self._key(at)
                for _, point, equals in self.round.gradients:
                    if self._key(point) == key:
                        return self._coordinates(equals)
                for name, point in self.unknown_gradients:
                    if self._key(point) == key:
                        alone = point == self.round.made.get("minimiser")
                        return self._of_basis((APART, name) if alone else None, name)
            case "mean", (v,):
                return self._coordinates(v).only(SAME)
            case "+", (v, w):
                return self._coordinates(v) + self._coordinates(w)
            case "-", (v, w):
                return self._coordinates(v) - self._coordinates(w)
            case "*", (c, v):
                return self._coordinates(v) * self.board.parameters.value(c)
            case "/", (v, c):
                return self._coordinates(v) / self.board.parameters.value(c)
        raise Missing(f"the vector {u.head} at a fixed point")

    def _of_basis(self, alone: tuple[str, str] | None, name: str) -> Vec:
        keys = [(SAME, f"{name}_b"), (APART, f"{name}_d")] if alone is None else [alone]
        return Vec(dict.fromkeys(keys, self.board.field.scalar(1)))

    def _canonical(self) -> str:
        """The tactic that writes every gradient by its name, those with others inside first."""
        longest = sorted(self.rewrites, key=lambda pair: -len(pair[0]))
        return f"repeat first [{' | '.join(f'rewrite {name}' for _, name in longest)} | fail]." if longest else ""

    def _values(self) -> None:
        """A name for every function value; values at points that are one are equal."""
        at_points: dict[Any, tuple[str, str]] = {}
        self.value_names: list[str] = []
        texts: set[str] = set()
        terms = dict.fromkeys(p.args[0] for x in self.numbers for p in parts(x) if p.head == "value")
        for place, at in enumerate(terms, 1):
            key, text = self._key(at), self.within.number(value(at))
            if text in texts:
                continue
            texts.add(text)
            self.value_names.append(f"v{place}_is")
            if key not in at_points:
                at_points[key] = (f"v{place}", f"v{place}_is")
                self.say(f"destruct (a_name ({text})) as (v{place} & v{place}_is).")
                continue
            first, equation = at_points[key]
            self.say(f"assert (v{place}_is : {text} = {first}).")
            self.say(f"{{ rewrite <- {equation}. f_equal. {self._canonical()} {self._same}; identity. }}")

    def _lengths(self) -> None:
        """A name for every length; those of multiples of one vector are multiples of one length."""
        self.lengths: list[Length] = []
        self.length_names: list[str] = []
        texts: set[str] = set()
        self.length_of: dict[Vector, tuple[int, Any]] = {}
        terms = dict.fromkeys(p.args[0] for x in self.numbers for p in parts(x) if p.head == "norm")
        for place, of in enumerate(terms, 1):
            u, text, name = self.board.round.put(self.round.meaning(of)), self.within.number(norm(of)), f"n{place}"
            if text in texts:
                continue
            texts.add(text)
            self.length_names.append(f"{name}_is")
            if not u.parts:
                self.say(f"assert ({name}_is : {text} = 0).")
                self.say(f"{{ apply norm_of_zero. {self._canonical()} {self._same}; identity. }}")
                continue
            multiple = next(
                ((k, c) for k, (v, _, _) in enumerate(self.lengths) if (c := ratio(u, v)) is not None), None
            )
            if multiple is None:
                self.lengths.append((u, name, of))
                self.say(
                    f"destruct (a_length {self.within.operand(of)}) as "
                    f"({name} & {name}_is & {name}_sign & {name}_square)."
                )
                continue
            first, c = multiple
            _, known, vector = self.lengths[first]
            size = c if self.board.field.is_nonnegative(c) else -c
            if not self.board.field.is_nonnegative(size):
                raise Missing("the length of a multiple of unknown sign")
            formula, how = self._positive(number_of(size), size)
            factor = f"({self.roots.text(formula)})"
            lemma = "norm_multiple" if size == c else "norm_opposite"
            self.say(f"assert ({name}_is : {text} = {factor} * {known}).")
            operands = f"{self.within.operand(of)} {self.within.operand(vector)}"
            same = f"{self._canonical()[:-1] or 'idtac'}; {self._same}"
            self.say(f"{{ apply ({lemma} {operands} {factor} {known} {known}_is); "
                     f"[{same}; {self.roots.identity} | {how}]. }}")  # fmt: skip

    # ---- lines

    def _prove(self, step: Step) -> None:
        if type(step.left) is Vector:
            self.say(
                f"assert ({step.name} : ({self.within.vector(step.left)})%V = ({self.within.vector(step.right)})%V)."
            )
            self.say(f"{{ {self._canonical()} {self._same}; identity. }}")
            return
        relation = "<=" if step.relation == "<=" else "="
        left, right = self.within.number(step.left), self.within.number(step.right)
        self.say(f"assert ({step.name} : {left} {relation} {right}).")
        if step.root_of:
            names = [self.signs[text] for x in _factors(step.right) if (text := self.writer.number(x)) in self.signs]
            rooted = "".join(f" try rewrite {e} in {name}." for name in names for e in self.roots.equations)
            self.say(f"{{ apply by_squares; [exact {step.root_of} |]. {self._plain()}{rooted} sign. }}")
            return
        body = []
        summands, proofs_of = [], []
        for place, (multiplier, fact) in enumerate(step.facts, 1):
            text = self.within.number(fact.difference)
            said = f"{text} = 0" if fact.exact else f"0 <= {text}"
            body.append(f"assert (fact_{place} : {said}) by ({self._tactic(fact.proof)}).")
            summands.append(f"{self.within.factor(multiplier)} * ({text})")
            proofs_of.append((multiplier, f"fact_{place}", fact.exact))
        for weight, u in step.squares:
            summands.append(f"{self.within.factor(weight)} * inner {self.within.operand(u)} {self.within.operand(u)}")
            proofs_of.append((weight, "apply inner_square", False))
        corrections = self._corrections(step)
        total = " + ".join(summands) or "0"
        whole = total + "".join(f" + ({q}) * ({n} * {n} - {square})" for q, n, square, _ in corrections)
        apply = "by_identity" if relation == "<=" else "by_equation"
        body.append(f"apply ({apply} _ _ ({whole})).")
        body.append(f"- {self._plain()} {self._canonical()} {self._expand}. {self.roots.identity}.")
        body.append(f"- {self._nonnegative(proofs_of, corrections, relation)}")
        self.say("{ " + "\n    ".join(body) + " }")

    def _tactic(self, proof: str) -> str:
        return proof.replace(CANONICAL, self._canonical()[:-1] or "idtac")

    def _plain(self) -> str:
        """The tactic that writes values and lengths by their names."""
        names = [*self.value_names, *self.length_names, *self.roots.equations]
        return f"repeat first [{' | '.join(f'rewrite {name}' for name in names)} | fail]." if names else ""

    def _nonnegative(self, parts_: list[tuple[Number, str, bool]], corrections: list[Any], relation: str) -> str:
        lines = []
        for _, n, _, _ in reversed(corrections):
            step = "nonneg_zero" if relation == "<=" else "both_zero"
            lines.append(f"apply {step}; [| apply times_zero; rewrite {n}_square; ring].")
        if not parts_:
            lines.append("lra." if relation == "<=" else "reflexivity.")
        for place in reversed(range(len(parts_))):
            multiplier, proof, exact = parts_[place]
            found = f"exact {proof}" if not proof.startswith("apply") else proof
            if exact:
                one = f"apply times_zero; {found}"
            else:
                known = self.signs.get(self.writer.number(multiplier))
                sign = f"exact {known}" if known else f"{self._plain()[:-1] or 'idtac'}; sign"
                one = f"apply Rmult_le_pos; [{sign} | {found}]"
            if relation == "=":
                lines.append(f"apply both_zero; [| {one}]." if place else f"{one}.")
            elif exact:
                lines.append(f"apply nonneg_zero; [| {one}]." if place else f"apply Req_le; symmetry; {one}.")
            else:
                lines.append(f"apply plus_nonneg; [| {one}]." if place else f"{one}.")
        return " ".join(lines)

    def _corrections(self, step: Step) -> list[tuple[str, str, str, int]]:
        """Multiples of n² − ⟨u, u⟩ = 0, for lengths n = ‖u‖, that the identity of this line needs."""
        if not self.lengths:
            return []
        reader = FreeProducts(self.board, self.round.meaning, self.lengths)
        rest = reader.number(step.right) - reader.number(step.left)
        for multiplier, fact in step.facts:
            rest = rest - reader.product(reader.number(multiplier), reader.number(fact.difference))
        for weight, vector in step.squares:
            rest = rest - reader.product(reader.number(weight), reader.number(inner(vector, vector)))
        found = []
        for place, (u, name, of) in enumerate(self.lengths):
            twice = (("‖", str(place)),) * 2
            quotient: dict[Monomial, Any] = {}
            for m, c in rest.terms.items():
                if m.count(twice[0]) >= 2:
                    left = list(m)
                    left.remove(twice[0])
                    left.remove(twice[0])
                    key = tuple(left)
                    quotient[key] = quotient.get(key, 0) + c
            if not quotient:
                continue
            q = Quantity(quotient)
            if any(x[0] != "‖" for m in q.terms for x in m):
                raise Missing("the square of a length times an inner product")
            square = self.board.inner(u, u)
            square_of_unknown = Quantity({twice: self.board.field.scalar(1)})
            rest = rest - reader.product(q, square_of_unknown - square)
            text = " + ".join(
                " * ".join([f"({self.roots.text(number_of(c))})", *(self.lengths[int(x[1])][1] for x in m)])
                for m, c in q.terms.items()
            )
            found.append((text, name, self.within.number(inner(of, of)), place))
        return found

    def _conclude(self) -> None:
        last = self.steps[-1]
        claim = self.theorem
        equal = f"{self._inline()} {self._expand}; {self.roots.identity}"
        if type(claim.left) is Vector:
            self.say(f"{self._canonical()} {self._same}; identity.")
        elif claim.claim.relation == "=" or last.relation == "=":
            self.say(f"pose proof (no_difference _ _ {last.name}) as last.")
            end = "apply Rminus_diag_uniq_sym" if claim.claim.relation == "=" else "apply Req_le, Rminus_diag_uniq_sym"
            self.say(f"first [exact {last.name} | {end}; rewrite <- last; {equal}].")
        else:
            same = f"[exact (difference _ _ {last.name}) | apply Req_le; {equal}]"
            self.say(f"first [exact {last.name} | apply (by_identity _ _ _ eq_refl); eapply Rle_trans; {same}].")

    def _inline(self) -> str:
        return "".join(f"{t[:-1]}; " for t in (self._plain(), self._canonical()) if t)


def _factors(x: Number) -> Iterator[Number]:
    """The factors of a product that are formulas of parameters with differences, whose signs are no matter of form."""
    if x.head == "*":
        for factor in x.args:
            yield from _factors(factor)
    elif is_of_parameters(x) and any(p.head in ("-", "neg") for p in parts(x)):
        yield x


def _depth(u: Vector) -> int:
    inside = max((_depth(a) for a in u.args if type(a) is Vector), default=0)
    return inside + (u.head == "gradient")
