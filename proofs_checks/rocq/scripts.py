"""The proof of a theorem in Rocq, written from the proof as data: a lemma of the library for every rule.

What the kernel's board knows, such as which two points are one, only chooses what is written; Rocq proves it again.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, final

from fedconvex.claims.terms import Number, Vector, gradient, inner, norm, number, parts, value
from fedconvex.proofs_checks.kernel import proofs
from fedconvex.proofs_checks.kernel.formulas import is_of_parameters
from fedconvex.proofs_checks.kernel.scalars import Refused
from fedconvex.proofs_checks.kernel.vectors import Monomial, Quantity, Vec
from fedconvex.proofs_checks.rocq.signs import sign_lemma
from fedconvex.proofs_checks.rocq.terms import Missing, Writer, number_of
from fedconvex.proofs_checks.rocq.theorems import TheoremText, divisors


@final
@dataclass
class Fact:
    """difference >= 0, or = 0 where exact, and the tactic that proves it."""

    difference: Number
    proof: str
    exact: bool = False


@final
@dataclass
class Step:
    """A line of the proof with its terms in variables: what it says, and what it rests on."""

    name: str
    left: Any
    right: Any
    relation: str
    facts: list[tuple[Number, Fact]] = field(default_factory=list)
    squares: list[tuple[Number, Vector]] = field(default_factory=list)
    root_of: str = ""

    @property
    def numbers(self) -> Iterator[Number]:
        """All numbers in the step."""
        if type(self.left) is Number:
            yield from (self.left, self.right)
        for multiplier, fact in self.facts:
            yield from (multiplier, fact.difference)
        for weight, vector in self.squares:
            yield from (weight, inner(vector, vector))


class Script:
    """The script of one theorem. `text` is the whole of it."""

    def __init__(self, theorem: TheoremText):
        self.theorem, self.round, self.board = theorem, theorem.round, theorem.board
        self.names: dict[str, str] = {}  # of lines, in Rocq
        self.steps: list[Step] = []
        for line in theorem.derivation.lines:
            self.steps.append(self._step(line, len(self.steps) + 1))
        theorem.statement()  # makes the variables in the assumptions, too
        self.out: list[str] = []

    # ---- lines and facts, in variables

    def _step(self, line: Any, place: int) -> Step:
        name = f"line_{place}"
        match line:
            case proofs.Combine(left, right, facts, squares, relation, called):
                made = Step(name, self._term(left), self._term(right), relation)
                made.facts = [(self.round.number(m), self._fact(f)) for m, f in facts]
                made.squares = [(self.round.number(c), self.round.vector(u)) for c, u in squares]
            case proofs.Root(left, right, of, called):
                made = Step(name, self._term(left), self._term(right), "<=", root_of=self.names[of])
            case _:
                raise Missing(type(line).__name__)
        self.names[called or f"line {place}"] = name
        return made

    def _term(self, term: Any) -> Any:
        return self.round.vector(term) if type(term) is Vector else self.round.number(term)

    def _fact(self, fact: Any) -> Fact:
        match fact:
            case proofs.Lower(b, a, least):
                return self._quadratic(b, a, 0, least)
            case proofs.Upper(b, a, most):
                return self._quadratic(b, a, 1, most)
            case proofs.Between(b, a, least, most):
                return self._between(self.round.vector(b), self.round.vector(a), least, most)
            case proofs.CauchySchwarz(u, v, sign):
                x, y = self.round.vector(u), self.round.vector(v)
                which = "plus" if sign == 1 else "minus"
                return Fact(norm(x) * norm(y) - inner(x, y) * number(sign), f"apply cauchy_schwarz_{which}")
            case proofs.Nonnegative(of):
                return Fact(self.round.number(of), "sign")
            case proofs.Earlier(line):
                earlier = next(s for s in self.steps if s.name == self.names[line])
                if type(earlier.left) is Vector:
                    raise Missing("an earlier line about vectors")
                exact = earlier.relation == "="
                proof = f"exact ({'no_' if exact else ''}difference _ _ {earlier.name})"
                return Fact(earlier.right - earlier.left, proof, exact)
            case proofs.Hypothesis(what):
                return self._assumed(what)
        raise Missing(type(fact).__name__)

    def _curvature(self, end: int, given: Number | None) -> tuple[Number, Number]:
        known = self.theorem.setting.curvature[end]
        if known is None:
            raise Missing("a class of the objective alone")
        return known, known if given is None else given

    def _quadratic(self, to: Vector, at: Vector, end: int, given: Number | None) -> Fact:
        b, a = self.round.vector(to), self.round.vector(at)
        _, c = self._curvature(end, given)
        tangent, square = inner(gradient(a), b - a), (c / 2) * inner(b - a, b - a)
        if end == 0:
            return Fact(value(b) - value(a) - tangent - square, "apply (lower F _ _ _ _ F_least); order")
        return Fact(value(a) + tangent + square - value(b), "apply (upper F _ _ _ _ F_most); order")

    def _between(self, b: Vector, a: Vector, least: Number | None, most: Number | None) -> Fact:
        _, low = self._curvature(0, least)
        _, high = self._curvature(1, most)
        g, d = gradient(b) - gradient(a), b - a
        difference = inner(g - low * d, high * d - g)
        return Fact(difference, "apply (between F _ _ _ _ _ _ F_least F_most); order")

    def _scale(self) -> Fact:
        """The equation of the number that multiplies variances."""
        draws = self.theorem.setting.draws
        assert draws.active is not None
        assert draws.clients is not None
        sg, active, clients = Number("parameter", ("σ",)), draws.active, draws.clients
        value_of = self.board.parameters.value
        if self.board.field.is_nonnegative(1 - value_of(clients)):
            return Fact(sg * active - clients + active, "apply draw_scale_one; lra", exact=True)
        return Fact(sg * active * (clients - 1) - clients + active, "exact draw_scale", exact=True)

    def _assumed(self, what: str) -> Fact:
        if what == "scale":
            return self._scale()
        u, v, bound = self.theorem.assumed(what)
        c = number(bound)
        one = self.theorem.one
        match what:
            case "inexactness":
                lemma = "length_bound" if one else "random_lengths" if self.theorem.drawn else "mean_of_lengths"
                return Fact(inner(v, v) * c**2 - inner(u, u), f"apply {lemma}; [sign | exact inexactness]")
            case "error":
                lemma = "error_bound" if one else "mean_of_errors"
                return Fact(c**2 - inner(u, u), f"apply {lemma}; [sign | exact error]")
            case "dissimilarity":
                return Fact(c**2 * inner(v, v) - inner(u, u), "exact (difference _ _ dissimilarity)")
            case "variance":
                return Fact(c - inner(u - v, u - v), "exact (difference _ _ variance)")
        return Fact(inner(u, u) - c, "exact (difference _ _ large_gradient)")

    # ---- the script

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
        if any(p.head == "root" for x in self.numbers for p in parts(x)):
            raise Missing("roots of parameters")
        self.lemmas: list[str] = []
        self.divisor_texts: dict[str, str] = {}
        vectors = list(self._vectors())
        for place, below in enumerate(divisors(dict.fromkeys([*self.numbers, *vectors])), 1):
            positive = self.board.field.is_positive(self.board.parameters.value(below))
            text = self.writer.number(below)
            if text in self.divisor_texts:
                continue
            proof = self._sign(below, strictly=True) if positive else "sign"
            self.divisor_texts[text] = f"0 < {text}" if positive else f"{text} < 0"
            self.say(f"assert (divisor_{place} : {self.divisor_texts[text]}) by {proof}.")
        self.signs: dict[str, str] = {}
        for step in self.steps:
            for multiplier in [*(m for m, f in step.facts if not f.exact), *(c for c, _ in step.squares)]:
                text = self.writer.number(multiplier)
                if text not in self.signs and is_of_parameters(multiplier):
                    self.signs[text] = f"sign_{len(self.signs) + 1}"
                    self.say(f"assert ({self.signs[text]} : 0 <= {text}) by {self._sign(multiplier)}.")

    def _sign(self, formula: Number, strictly: bool = False) -> str:
        """The tactic that shows a sign, with a lemma of its own where the formula has differences."""
        if "-" not in self.writer.number(formula):
            return "sign"
        name = f"{self.theorem.name}_sign_{len(self.lemmas) + 1}"
        given = [h.text for h in self.theorem.hypotheses if "INR" not in h.text]
        names = dict(self.theorem.parameters)
        if self.theorem.draws == "uniform":
            names["σ"] = "sg"
            given += ["0 <= sg", "sg <= 1"]
        given += [self.divisor_texts[self.writer.number(d)] for d in divisors([formula])]
        value_of = self.board.parameters.value(formula)
        self.lemmas.append(sign_lemma(name, self.board.field, formula, value_of, strictly, names, given))
        return f"(apply ({name} {' '.join(dict.fromkeys(names.values()))}); assumption)"

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
        for name, at, _ in self.round.gradients:
            text = self._gradient(at)
            self.rewrites.append((text, name))
            known.add(text)
            at_points[self.round.meaning(at).key] = (at, name)
        terms = dict.fromkeys(u.args[0] for u in self._vectors() if u.head == "gradient")
        for at in sorted(terms, key=_depth):
            text = self._gradient(at)
            if text in known:
                continue
            known.add(text)
            key, name = self.round.meaning(at).key, f"g{len(known)}"
            if key in at_points:
                others.append((name, text, at_points[key][0]))
                continue
            at_points[key] = (at, f"{name}_is")
            self.rewrites.append((text, f"{name}_is"))
            self._new_gradient(name, text, at)
        self._state_basis()
        for name, text, first in others:
            self.say(f"assert ({name}_is : {text} = {self._gradient(first)}).")
            self.say(f"{{ f_equal. {self._canonical()} {self._same}; identity. }}")
            self.rewrites.append((text, f"{name}_is"))

    def _gradient(self, at: Vector) -> str:
        return self.within.vector(gradient(at))

    def _new_gradient(self, name: str, text: str, at: Vector) -> None:
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
            key, text = self.round.meaning(at).key, self.within.number(value(at))
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
        self.lengths: list[tuple[Vec, str, Vector]] = []
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
                ((k, c) for k, (v, _, _) in enumerate(self.lengths) if (c := _ratio(u, v)) is not None), None
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
            factor = self.within.factor(number_of(size))
            lemma = "norm_multiple" if size == c else "norm_opposite"
            self.say(f"assert ({name}_is : {text} = {factor} * {known}).")
            operands = f"{self.within.operand(of)} {self.within.operand(vector)}"
            self.say(f"{{ apply ({lemma} {operands} {factor} {known} {known}_is); "
                     f"[{self._canonical()[:-1] or 'idtac'}; {self._same}; identity | sign]. }}")  # fmt: skip

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
            self.say(f"{{ apply by_squares; [exact {step.root_of} |]. {self._plain()} sign. }}")
            return
        body = []
        summands, proofs_of = [], []
        for place, (multiplier, fact) in enumerate(step.facts, 1):
            text = self.within.number(fact.difference)
            said = f"{text} = 0" if fact.exact else f"0 <= {text}"
            body.append(f"assert (fact_{place} : {said}) by ({fact.proof}).")
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
        body.append(f"- {self._plain()} {self._canonical()} {self._expand}. identity.")
        body.append(f"- {self._nonnegative(proofs_of, corrections, relation)}")
        self.say("{ " + "\n    ".join(body) + " }")

    def _plain(self) -> str:
        """The tactic that writes values and lengths by their names."""
        names = [*self.value_names, *self.length_names]
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
        reader = _FreeProducts(self)
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
                " * ".join([f"({self.within.number(number_of(c))})", *(self.lengths[int(x[1])][1] for x in m)])
                for m, c in q.terms.items()
            )
            found.append((text, name, self.within.number(inner(of, of)), place))
        return found

    def _conclude(self) -> None:
        last = self.steps[-1]
        claim = self.theorem
        if type(claim.left) is Vector:
            self.say(f"{self._canonical()} {self._same}; identity.")
        elif claim.claim.relation == "=" or last.relation == "=":
            self.say(f"pose proof (no_difference _ _ {last.name}) as last.")
            end = "apply Rminus_diag_uniq_sym" if claim.claim.relation == "=" else "apply Req_le, Rminus_diag_uniq_sym"
            self.say(f"first [exact {last.name} | {end}; rewrite <- last; {self._inline()} {self._expand}; identity].")
        else:
            same = f"[exact (difference _ _ {last.name}) | apply Req_le; {self._inline()} {self._expand}; identity]"
            self.say(f"first [exact {last.name} | apply (by_identity _ _ _ eq_refl); eapply Rle_trans; {same}].")

    def _inline(self) -> str:
        return "".join(f"{t[:-1]}; " for t in (self._plain(), self._canonical()) if t)


class _FreeProducts:
    """Numbers as polynomials in which the square of a length stays one."""

    def __init__(self, script: Script):
        self.script, self.board = script, script.board

    def number(self, x: Number) -> Quantity:
        board, script = self.board, self.script
        match x.head, x.args:
            case "norm", (of,):
                u = board.round.put(script.round.meaning(of))
                for place, (v, _, _) in enumerate(script.lengths):
                    c = _ratio(u, v)
                    if c is not None:
                        size = c if board.field.is_nonnegative(c) else -c
                        return Quantity({(("‖", str(place)),): size})
                return Quantity()
            case "inner", (u, v):
                return board.inner(script.round.meaning(u), script.round.meaning(v))
            case "value", (u,):
                return board.value(script.round.meaning(u))
            case ("+" | "-") as sign, (y, z):
                return self.number(y) + self.number(z) * (1 if sign == "+" else -1)
            case "neg", (y,):
                return self.number(y) * -1
            case "*", (y, z):
                return self.product(self.number(y), self.number(z))
            case "/", (y, z) if not is_of_parameters(x):
                return self.number(y) * (1 / board.parameters.value(z))
            case "^", (y, Number("constant", (n,))) if not is_of_parameters(x):
                found, base = board.constant(1), self.number(y)
                for _ in range(int(n)):
                    found = self.product(found, base)
                return found
            case "named", (_, y):
                return self.number(y)
        return board.constant(board.parameters.value(x))

    def product(self, a: Quantity, b: Quantity) -> Quantity:
        terms: dict[Monomial, Any] = {}
        for m, c in a.terms.items():
            for n, d in b.terms.items():
                key = tuple(sorted((*m, *n)))
                terms[key] = terms.get(key, 0) + c * d
        return Quantity(terms)


def _ratio(u: Vec, v: Vec) -> Any:
    """c with u = cv, or None."""
    if u.parts.keys() != v.parts.keys():
        return None
    key = min(u.parts)
    try:
        c = u.parts[key] / v.parts[key]
    except Refused:
        return None
    return c if (u - v * c).key == frozenset() else None


def _depth(u: Vector) -> int:
    inside = max((_depth(a) for a in u.args if type(a) is Vector), default=0)
    return inside + (u.head == "gradient")
