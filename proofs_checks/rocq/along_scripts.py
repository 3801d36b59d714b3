"""The script of a theorem whose proof follows a potential along any number of local steps."""

from typing import final

from fedconvex.claims.claim import Claim, ClaimSetting
from fedconvex.claims.terms import Number, number, parameter, parts
from fedconvex.proofs_checks.kernel import proofs
from fedconvex.proofs_checks.rocq.along_steps import BEFORE, OF_BEFORE, OF_STEPS, LemmasAlongSteps
from fedconvex.proofs_checks.rocq.parameter_signs import ParameterSigns
from fedconvex.proofs_checks.rocq.scripts import Script
from fedconvex.proofs_checks.rocq.terms import Missing, Writer, proved
from fedconvex.proofs_checks.rocq.theorems import TheoremText


@final
class AlongStepsScript:
    """Lemmas about one step and about the last one, the theorem, and its proof."""

    def __init__(self, name: str, setting: ClaimSetting, claim: Claim, derivation: proofs.Derivation):
        self.parts = along = LemmasAlongSteps(setting, claim, derivation)
        self.terms, self.setting = along.terms, setting
        self.step, self.last = along.lemmas(name)
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
        self.parts.share_vectors(self.theorem, (self.step, self.last))
        statement = self.theorem.statement()
        signs = self._signs()
        proof = [*self._introduced(), *signs.lines, *self._powers(), *self._along(), *self._concluded()]
        return "\n\n".join([*texts, *signs.lemmas, *self._multiplier_lemma(), proved(statement, proof)])

    def _introduced(self) -> list[str]:
        count = self.theorem.parameters[self.terms.count]
        return [
            f"intros {' '.join(self.theorem.introduced)}.",
            "destruct steps as [| n]; [simpl in steps_number; lra |].",
            f"assert (n_is : INR n = {count} - 1) by (rewrite steps_number, S_INR; ring).",
        ]

    def _signs(self) -> ParameterSigns:
        """Signs of the multiplier, of the ratio q, and of 1 - q."""
        q, zero = self.terms.ratio, number(0)
        known: list[Number] = [*([] if self._has_power else [self.parts.multiplier]), *([] if q is None else [1 - q])]
        total = sum(known if q is None else [*known, q], start=zero)
        alone = TheoremText(f"{self.theorem.name}_signs", self.setting, Claim(zero, "<=", total), proofs.Derivation())
        return ParameterSigns(alone, [*known, *([] if q is None else [1 / q])], [], known)

    @property
    def _has_power(self) -> bool:
        """Whether the multiplier of the potential's fall has the power of the number of steps."""
        return parameter(OF_STEPS) in parts(self.parts.multiplier)

    def _multiplier_lemma(self) -> list[str]:
        """A lemma about the sign of such a multiplier, in which the power is a parameter."""
        if not self._has_power:
            return []
        m = self.parts.multiplier
        alone = TheoremText(
            f"{self.theorem.name}_multiplier", self.terms.setting_for(False), Claim(number(0), "<=", m),
            proofs.Derivation(),
        )  # fmt: skip
        signs = ParameterSigns(alone, [m], [], [m])
        known = [h for h in alone.hypotheses if h.name.startswith("condition_") or h.name.endswith(("_sign", "_count"))]
        stated = "".join(f"  ({h.text}) ->\n" for h in known) + f"  0 <= {alone.writer.number(m)}."
        names = list(alone.parameters.values())
        lines = [
            f"intros {' '.join([*names, *(h.name for h in known)])}.",
            *signs.lines,
            f"exact {signs.signs.popitem()[1]}.",
        ]
        return [*signs.lemmas, proved(f"Lemma {alone.name} :\n  forall {' '.join(names)} : R,\n{stated}", lines)]

    def _sign_of_multiplier(self) -> list[str]:
        """That it is >= 0, where the signs do not say so."""
        if not self._has_power:
            return []
        numbers = [self._parameters("", self._all)[p] for p in sorted(self.terms.setting_for(False).signs)]
        applied = f"{self.theorem.name}_multiplier {' '.join(numbers)}"
        by = "first [assumption | apply power_sign | apply power_most | lra]"
        return [f"assert (multiplier_sign : 0 <= {self._multiplier}) by (apply ({applied}); {by})."]

    @property
    def _multiplier(self) -> str:
        return Writer({}, self._parameters("", self._all)).number(self.parts.multiplier)

    def _powers(self) -> list[str]:
        """What is known of the powers."""
        if self.terms.ratio is None:
            return []
        q = self._ratio
        lines = [
            f"assert (ratio_sign : 0 < {q}) by assumption. assert (ratio_most : {q} <= 1) by lra.",
            f"assert (power_sign : forall i, 0 < ({q}) ^ i) by (intro i; apply pow_lt; exact ratio_sign).",
            f"assert (power_most : forall i, ({q}) ^ i <= 1) by (intro i; apply power_at_most_one; lra).",
            f"assert (all_most : ({q}) ^ S n <= {q}) by (apply power_at_most; lra).",
            f"assert (before_is : ({q}) ^ n = ({q}) ^ S n / ({q})).",
            "{ simpl. field. apply Rgt_not_eq. exact ratio_sign. }",
        ]
        for order in self.parts.orders:
            text = Writer({}, self._parameters("", self._all)).number(self.terms.bernoulli(order))
            lines.append(f"assert (bernoulli_{order} : 0 <= {text}).")
            lines.append(f"{{ rewrite steps_number. apply bernoulli_{order}_of_powers; [lra | exact ratio_most]. }}")
        return lines

    @property
    def _ratio(self) -> str:
        return "1" if self.terms.ratio is None else self.theorem.writer.number(self.terms.ratio)

    @property
    def _all(self) -> str:
        """The power of the number of all steps."""
        return f"(({self._ratio}) ^ S n)"

    def _parameters(self, before: str, of_steps: str, of_before: str = "") -> dict[str, str]:
        return {**self.theorem.parameters, BEFORE: before, OF_STEPS: of_steps, OF_BEFORE: of_before}

    def _applied(self, lemma: TheoremText, at: str, parameters: dict[str, str]) -> str:
        """The lemma at the points `at`, with what it takes before its hypotheses."""
        vectors = [u for _, u in sorted(self._vectors(lemma, at).items())]
        return f"({lemma.name} V C f {' '.join([*(parameters[p] for p in lemma.parameters), *vectors])})"

    def _vectors(self, lemma: TheoremText, at: str) -> dict[str, str]:
        """What the lemma's vectors are here."""
        same_as, moves = self.theorem.round.same_as, self.parts.is_moving
        return {name: at if moves(lemma, name) else same_as(lemma.round, name) for name in lemma.round.variables}

    def _written(self, lemma: TheoremText, of: Number, at: str, parameters: dict[str, str]) -> str:
        return Writer(self._vectors(lemma, at), parameters, lemma.draws).number(of)

    def _along(self) -> list[str]:
        """The potential after so many steps, and that it does not grow."""
        q, step = self._ratio, self.step
        potential = self.parts.potential(parameter(BEFORE), parameter(OF_BEFORE), self.parts.u)
        text = self._written(step, step.round.number(potential), "u", self._parameters("b", self._all, "p"))
        here = self._parameters("(INR i)", self._all, f"(({q}) ^ i)")
        return [
            f"pose (cost := fun (b p : R) (u : families C V) => {text}).",
            f"assert (along : forall i, (i <= n)%nat -> cost (INR i) (({q}) ^ i) (y i) <= cost 0 1 (y O)).",
            "{ induction i as [| i before]; intro short; [apply Rle_refl |].",
            "  apply Rle_trans with (2 := before (Nat.lt_le_incl _ _ short)). rewrite S_INR.",
            f"  change (cost (INR i + 1) (({q}) * ({q}) ^ i) (y (S i)) <= cost (INR i) (({q}) ^ i) (y i))."
            if self.terms.ratio is not None
            else "  rewrite ?pow1.",
            "  rewrite (path_step i (Nat.lt_lt_succ_r _ _ short)).",
            f"  apply {self._applied(step, '(y i)', here)};",
            "    first [assumption | apply pos_INR | apply power_sign | apply power_most | lra]. }"
            if self.terms.ratio is not None
            else "    first [assumption | apply pos_INR | lra]. }",
        ]

    def _concluded(self) -> list[str]:
        """The claim, from the last step and what went before."""
        m = self._multiplier
        by = (
            "first [assumption | apply power_sign | lra]"
            if self.terms.ratio is not None
            else "first [assumption | lra]"
        )
        return [
            "pose proof (along n (Nat.le_refl n)) as all_but_last. rewrite n_is in all_but_last.",
            "rewrite (path_step n (Nat.lt_succ_diag_r n)) in path_end. rewrite path_start in all_but_last.",
            "rewrite ?pow1 in all_but_last." if self.terms.ratio is None else "rewrite before_is in all_but_last.",
            *self._sign_of_multiplier(),
            f"apply (last_of_steps _ _ ({m}) _ _) with (3 := all_but_last); [| lra].",
            f"apply {self._applied(self.last, '(y n)', self._parameters('', self._all))}; {by}.",
        ]
