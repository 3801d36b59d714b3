"""Theorems about any number of local steps: a lemma about one step from any points, and induction over the steps."""

from typing import final

from fedconvex.claims.claim import Claim, ClaimSetting
from fedconvex.claims.terms import Number, Vector, family, local_step, norm, number
from fedconvex.proofs_checks.kernel import proofs
from fedconvex.proofs_checks.rocq.parameter_signs import ParameterSigns
from fedconvex.proofs_checks.rocq.scripts import Script
from fedconvex.proofs_checks.rocq.terms import Missing, proved
from fedconvex.proofs_checks.rocq.theorems import TheoremText


@final
class LocalStepsScript:
    """A theorem that is a line `LocalSteps`: every step brings the clients nearer to points, and so do all together."""

    def __init__(self, name: str, setting: ClaimSetting, claim: Claim, derivation: proofs.Derivation):
        line = derivation.lines[-1]
        if not isinstance(line, proofs.LocalSteps):
            raise Missing("lines after those about local steps")
        self.line = line
        u = family(line.family)
        nearer = Claim(norm(local_step(u) - line.to), "<=", line.ratio * norm(u - line.to), of_client=claim.of_client)
        of_step = proofs.Combine(nearer.left, nearer.right, line.facts, line.squares)
        lines = (*derivation.lines[:-1], of_step)
        self.step = TheoremText(f"{name}_step", setting, nearer, proofs.Derivation(lines, derivation.invariants))
        self.theorem = TheoremText(name, setting, claim, proofs.Derivation((), derivation.invariants))
        if self.theorem.drawn:
            raise Missing("local steps of drawn clients")
        self.cited: dict[str, TheoremText] = {}

    def whole(self) -> str:
        """The lemma about a step, the theorem, and its proof."""
        script = Script(self.step)
        text, statement = script.whole(), self._stated()
        self.cited = script.cited
        theorem, round_ = self.theorem, self.theorem.round
        signs = self._signs()
        of_sign = signs.signs[theorem.writer.number(self.line.ratio)]
        of_ratio = theorem.writer.factor(self.line.ratio)
        to = theorem.writer.operand(round_.vector(self.line.to))
        steps, y = theorem.path_names
        proof = [
            f"intros {' '.join(theorem.introduced)}.",
            *signs.lines,
            f"pose proof (contracts {y} {to} {of_ratio} {steps}) as nearer.",
            f"lapply nearer; [clear nearer; intro nearer | exact {of_sign}].",
            "rewrite path_end. rewrite path_start in nearer. apply nearer. clear nearer.",
            "intros i short. rewrite (path_step i short).",
            f"apply ({self.step.name} {' '.join(self._applied(y))}); assumption.",
        ]
        return "\n\n".join([text, *signs.lemmas, proved(statement, proof)])

    def _stated(self) -> str:
        """The theorem, whose answers are the end of a path."""
        for name, variable in self.step.round.variables.items():
            if not self._is_moving(name):
                self.theorem.round.same_as(self.step.round, name)
            elif variable.equals is not None:
                raise Missing("points of a step that are defined")
        _ = self.theorem.round.answers
        return self.theorem.statement()

    def _is_moving(self, name: str) -> bool:
        return self.step.round.made.get(f"family {self.line.family}") == Vector("variable", (name,))

    def _applied(self, y: str) -> list[str]:
        """What the lemma about a step takes before its hypotheses."""
        vectors = [
            f"({y} i)" if self._is_moving(name) else self.theorem.round.same_as(self.step.round, name)
            for name in sorted(self.step.round.variables)
        ]
        return ["V", *self.theorem.sets, "f", *self.theorem.parameters.values(), *vectors]

    def _signs(self) -> ParameterSigns:
        """That the ratio is >= 0."""
        zero: Number = number(0)
        alone = TheoremText(
            f"{self.theorem.name}_ratio", self.theorem.setting, Claim(zero, "<=", self.line.ratio), proofs.Derivation()
        )
        return ParameterSigns(alone, [self.line.ratio], [], [self.line.ratio])
