"""The script of a theorem whose proof follows a potential along any number of local steps."""

from typing import final

from fedconvex.claims.claim import Claim, ClaimSetting
from fedconvex.claims.terms import Number, Vector, number, parameter
from fedconvex.proofs_checks.kernel import proofs
from fedconvex.proofs_checks.rocq.along_steps import BEFORE, OF_BEFORE, OF_STEPS, AlongSteps
from fedconvex.proofs_checks.rocq.parameter_signs import ParameterSigns
from fedconvex.proofs_checks.rocq.scripts import Script
from fedconvex.proofs_checks.rocq.terms import Missing, Writer
from fedconvex.proofs_checks.rocq.theorems import TheoremText


@final
class AlongStepsScript:
    """Lemmas about one step and about the last one, the theorem, and its proof."""

    def __init__(self, name: str, setting: ClaimSetting, claim: Claim, derivation: proofs.Derivation):
        self.parts = along = AlongSteps(setting, claim, derivation)
        self.terms, self.setting = along.terms, setting
        of_step, of_last = along.of_step(), along.of_last_step()
        self.step = TheoremText(f"{name}_step", self.terms.setting_for(True), *of_step)
        self.last = TheoremText(f"{name}_last", self.terms.setting_for(False), *of_last, of_last_step=True)
        for order in along.orders:
            self.last.assume_bernoulli(order, self.terms.bernoulli(order))
        self.theorem = TheoremText(name, setting, claim, proofs.Derivation((), along.invariants))
        if self.theorem.drawn or self.theorem.one:
            raise Missing("a potential along local steps of drawn clients, or of one client")
        self.cited: dict[str, TheoremText] = {}

    def whole(self) -> str:
        """The lemmas, the theorem, and its proof."""
        scripts = [Script(lemma) for lemma in (self.step, self.last)]
        texts = [script.whole() for script in scripts]
        for script in scripts:
            self.cited |= script.cited
        for lemma in (self.step, self.last):
            for name in lemma.round.variables:
                if not self._is_moving(lemma, name):
                    self.theorem.round.same_as(lemma.round, name)
        _ = self.theorem.round.answers
        statement = self.theorem.statement()
        signs = self._signs()
        proof = [*self._introduced(), *signs.lines, *self._ratio(signs), *self._along(), *self._concluded()]
        lines = "\n".join(["Proof.", *(f"  {line}" for line in proof), "Qed."])
        return "\n\n".join([*texts, *signs.lemmas, f"{statement}\n{lines}"])

    def _is_moving(self, lemma: TheoremText, name: str) -> bool:
        keys = (f"family {self.parts.line.family}", "before last step")
        return any(lemma.round.made.get(key) == Vector("free", (name,)) for key in keys)

    def _introduced(self) -> list[str]:
        theorem = self.theorem
        hypotheses = [*theorem.hypotheses, *theorem.round_hypotheses()]
        names = ["V", *theorem.sets, "f", "F", *theorem.parameters.values(), *sorted(theorem.round.variables),
                 *theorem.path_names, *(h.name for h in hypotheses)]  # fmt: skip
        count = theorem.parameters[self.terms.count]
        return [
            f"intros {' '.join(names)}.",
            "destruct steps as [| n]; [simpl in steps_number; lra |].",
            f"assert (n_is : INR n = {count} - 1) by (rewrite steps_number, S_INR; ring).",
        ]

    def _signs(self) -> ParameterSigns:
        """Signs of the multiplier, of the ratio q, and of 1 - q for Bernoulli's inequalities."""
        q, zero = self.terms.ratio, number(0)
        known: list[Number] = [self.parts.multiplier]
        known += [] if q is None else [q, 1 - q] if self.parts.orders else [q]
        total = sum(known, start=zero)
        alone = TheoremText(f"{self.theorem.name}_signs", self.setting, Claim(zero, "<=", total), proofs.Derivation())
        positive = [1 / q] if q is not None and self.terms.is_positive else []
        return ParameterSigns(alone, [*known, *positive], [], known)

    def _ratio(self, signs: ParameterSigns) -> list[str]:
        """What is known of the sums of powers."""
        q = self.terms.ratio
        if q is None:
            return []
        ratio, count = self.theorem.writer.number(q), self.theorem.parameters[self.terms.count]
        relation, lemma, known = ("<", "pow_lt", "") if self.terms.is_positive else ("<=", "pow_le", "=")
        lines = [
            f"assert (ratio_sign : 0 {relation} {ratio}) by assumption.",
            f"assert (ratio_at_least : 0 <= {ratio}) by lra.",
            f"assert (power_sign : forall i, 0 {relation} 1 + ({ratio} - 1) * weights ({ratio}) i)",
            f"  by (intro i; rewrite <- weights_power; apply {lemma}; exact ratio_sign).",
            f"assert (sum_most : 1 <= weights ({ratio}) (S n)) by (apply weights_most; [exact ratio_at_least | lia]).",
            f"assert (sum_sign : 0 < weights ({ratio}) (S n)) by lra.",
            f"assert (sums_sign : forall i, 0 <= weights ({ratio}) i) by (intro i; apply weights_nonneg; exact ratio_at_least).",
            f"assert (before_is : weights ({ratio}) n = (weights ({ratio}) (S n) - 1) / ({ratio})).",
            f"{{ rewrite weights_first. field. apply Rgt_not_eq. exact ratio_sign. }}",
        ]
        if self.parts.orders:
            lines.append(f"assert (ratio_most : {ratio} <= 1) by lra.")
        for order in self.parts.orders:
            text = Writer({}, self._parameters("", f"(weights ({ratio}) (S n))")).number(self.terms.bernoulli(order))
            lines.append(f"assert (bernoulli_{order} : 0 <= {text}).")
            lines.append(f"{{ rewrite steps_number. apply bernoulli_{order}_of_weights; assumption. }}")
        return lines

    def _parameters(self, before: str, of_steps: str, of_before: str = "") -> dict[str, str]:
        return {**self.theorem.parameters, BEFORE: before, OF_STEPS: of_steps, OF_BEFORE: of_before}

    def _applied(self, lemma: TheoremText, at: str, parameters: dict[str, str]) -> str:
        """The lemma at the points `at`, with what it takes before its hypotheses."""
        vectors = [
            at if self._is_moving(lemma, name) else self.theorem.round.same_as(lemma.round, name)
            for name in sorted(lemma.round.variables)
        ]
        return f"({lemma.name} V C f {' '.join([*(parameters[p] for p in lemma.parameters), *vectors])})"

    def _written(self, lemma: TheoremText, of: Number, at: str, parameters: dict[str, str]) -> str:
        vectors = {
            name: at if self._is_moving(lemma, name) else self.theorem.round.same_as(lemma.round, name)
            for name in lemma.round.variables
        }
        return Writer(vectors, parameters, lemma.draws).number(of)

    def _along(self) -> list[str]:
        """The potential after so many steps, and that it does not grow."""
        q, step = self.terms.ratio, self.step
        before, of_before = parameter(BEFORE), parameter(OF_BEFORE)
        u = step.round.vector(self.parts.u).args[0]
        ratio = "" if q is None else self.theorem.writer.number(q)
        of_steps = f"(weights ({ratio}) (S n))"
        text = self._written(
            step, step.round.number(self.parts.potential(before, of_before, self.parts.u)), "u", self._parameters("b", of_steps, "p")
        )
        summed = (lambda i: f"(weights ({ratio}) {i})") if q is not None else (lambda i: "0")
        here = self._parameters("(INR i)", of_steps, summed("i"))
        later = "(INR i + 1)", (f"(1 + ({ratio}) * weights ({ratio}) i)" if q is not None else "0")
        lines = [
            f"pose (cost := fun (b p : R) (u : families C V) => {text}).",
            f"assert (along : forall i, (i <= n)%nat -> cost (INR i) {summed('i')} (y i) <= cost 0 0 (y O)).",
            "{ induction i as [| i before]; intro short; [apply Rle_refl |].",
            "  apply Rle_trans with (2 := before (Nat.lt_le_incl _ _ short)).",
            f"  rewrite S_INR{', weights_first' if q is not None else ''}.",
            f"  change (cost {later[0]} {later[1]} (y (S i)) <= cost (INR i) {summed('i')} (y i)).",
            "  rewrite (path_step i (Nat.lt_lt_succ_r _ _ short)).",
            f"  apply {self._applied(step, '(y i)', here)};",
            "    first [assumption | apply pos_INR | apply power_sign | apply sums_sign | lra]. }"
            if q is not None
            else "    first [assumption | apply pos_INR | lra]. }",
        ]
        _ = u
        return lines

    def _concluded(self) -> list[str]:
        """The claim, from the last step and what went before."""
        q = self.terms.ratio
        ratio = "" if q is None else self.theorem.writer.number(q)
        here = self._parameters("", f"(weights ({ratio}) (S n))")
        m = self.theorem.writer.number(self.parts.multiplier)
        lines = [
            "pose proof (along n (Nat.le_refl n)) as all_but_last. rewrite n_is in all_but_last.",
            "rewrite (path_step n (Nat.lt_succ_diag_r n)) in path_end. rewrite path_start in all_but_last.",
        ]
        if q is not None:
            lines += ["rewrite before_is in all_but_last.", f"rewrite ?(weights_power ({ratio}) (S n))."]
        lines += [
            f"apply (last_of_steps _ _ ({m}) _ _) with (3 := all_but_last); [| lra].",
            f"apply {self._applied(self.last, '(y n)', here)}; first [assumption | apply power_sign | lra].",
        ]
        return lines
