"""The proof of a theorem by cases: each case is a theorem of its own, and the last one decides between them."""

import re
from abc import ABC, abstractmethod
from typing import Any, final

from fedconvex.claims.claim import Claim, ClaimSetting
from fedconvex.claims.terms import Number, number
from fedconvex.proofs_checks.kernel import proofs
from fedconvex.proofs_checks.rocq.cases import Case, Derived, Split, same_invariants
from fedconvex.proofs_checks.rocq.parameter_signs import ParameterSigns
from fedconvex.proofs_checks.rocq.run_displays import RunDisplay
from fedconvex.proofs_checks.rocq.run_scripts import RunScript
from fedconvex.proofs_checks.rocq.runs import RunHypothesis, RunTheorem
from fedconvex.proofs_checks.rocq.scripts import Script
from fedconvex.proofs_checks.rocq.steps import theorem_of_case, theorem_of_cases
from fedconvex.proofs_checks.rocq.terms import Missing
from fedconvex.proofs_checks.rocq.theorems import TheoremText


class CaseScript(ABC):
    """Writes the theorems of all cases, and the one that follows from them. `cited` are those that the cases cite."""

    def __init__(self, name: str, setting: ClaimSetting, claim: Claim, tree: Split):
        self.name, self.setting, self.claim, self.tree = name, setting, claim, tree
        self.cited: dict[str, TheoremText] = {}
        self.lemmas: list[str] = []
        self.out: list[str] = []

    @abstractmethod
    def prove(self, case: Case) -> str:
        """The theorem of one case, with its proof."""

    @abstractmethod
    def statement(self) -> str:
        """The theorem without its proof."""

    @abstractmethod
    def introduced(self) -> list[str]:
        """The names of everything before the conclusion."""

    @abstractmethod
    def applied(self, case: Case) -> list[str]:
        """What the theorem of a case takes before its hypotheses."""

    @property
    @abstractmethod
    def master(self) -> TheoremText:
        """The theorem about one round, which has the parameters' names."""

    def whole(self) -> str:
        """The theorems of the cases, the theorem, and its proof."""
        proved = [self.prove(case) for case in self.tree.cases]
        statement = self.statement()
        self.out = [f"  intros {' '.join(self.introduced())}."]
        if self.setting.draws.scheme == "uniform":  # signs may speak of the draw's scale
            self.out.append("  assert (any_scale : exists sg, 0 <= sg <= 1) by (exists 0; lra).")
            self.out.append("  destruct any_scale as (sg & sg_sign & sg_most).")
            self.out.append("  pose proof (clients_number _ _ _ _ d) as of_clients.")
        self._decide(self.tree, 1)
        proof = "\n".join(["Proof.", *self.out, "Qed."])
        return "\n\n".join([*proved, *self.lemmas, f"{statement}\n{proof}"])

    def _decide(self, of: Split | Case, depth: int) -> None:
        if isinstance(of, Case):
            self._conclude(of)
            return
        write = self.master.writer.number
        more, less = write(of.more), write(of.less)
        self.out.append(f"  destruct (Rle_or_lt ({less}) ({more})) as [decided_{depth} | decided_{depth}].")
        self.out.append("  { idtac.")
        self._decide(of.above, depth + 1)
        self.out.append("  }")
        self.out.append("  { idtac.")
        if of.one_less is None:
            self.out.append(f"  apply Rlt_le in decided_{depth}.")
        else:
            self.out.append(f"  assert (one_less_{depth} : {more} <= {write(of.one_less)}).")
            self.out.append(
                f"  {{ apply (at_most_one_less {self._counted(of.more)} _ _); [lra | exact decided_{depth}]. }}"
            )
        self._decide(of.below, depth + 1)
        self.out.append("  }")

    def _counted(self, of: Number) -> str:
        """What the integer counts, as a natural number."""
        if self.setting.draws.clients == of and self.setting.draws.scheme == "uniform":
            return "(length (elements C))"
        raise Missing("cases of an integer that is not the number of clients")

    def _conclude(self, case: Case) -> None:
        """The claim in one case, from the theorem of the case."""
        if case.pinned:
            self.out.append("  clear of_clients.")
        for name in case.pinned:
            mine = self.master.parameters[name]
            self.out.append(f"  assert (pinned_{mine} : {mine} = 1) by lra. subst {mine}.")
        for place, derived in enumerate(case.derived, 1):
            self._derive(place, derived)
        maxima = list(case.maxima)
        order = TheoremText(
            f"{case.name}_order", case.before_maxima, Claim(number(0), "<=", sum(maxima, start=number(0))),
            proofs.Derivation(),
        )  # fmt: skip
        larger = {m: m.args[0] - m.args[1] if first else m.args[1] - m.args[0] for m, first in case.maxima.items()}
        known = ParameterSigns(order, [*larger.values(), *maxima], [], [])
        tactics = {m: known.sign(difference) for m, difference in larger.items()}
        self.out += [f"  {line}" for line in known.lines]
        for place, (of, tactic) in enumerate(tactics.items(), 1):
            x, y = of.args
            equal, lemma = (x, "larger_first") if case.maxima[of] else (y, "larger_second")
            write = self.master.writer
            self.out.append(f"  assert (larger_{place} : {write.number(of)} = {write.number(equal)}).")
            self.out.append(f"  {{ apply {lemma}; {tactic}. }}")
            self.out.append(f"  rewrite ?larger_{place}.")
            self.out += [f"  rewrite ?larger_{place} in {h.name}." for h in self.master.hypotheses if "Rmax" in h.text]
        self.lemmas += known.lemmas
        self.out.append(f"  apply ({case.name} {' '.join(self.applied(case))}); first [assumption | lra].")

    def _derive(self, place: int, of: Derived) -> None:
        """A condition without squares, from one with them."""
        write = self.master.writer
        larger, _, smaller = of.condition
        sign = "<" if of.strictly else "<="
        lemma = f"root_{'above' if of.above else 'below'}{'_strictly' if of.strictly else ''}"
        a, b, x = map(write.factor, (of.a, of.b, of.x))
        self.out.append(f"  assert (derived_{place} : {write.number(smaller)} {sign} {write.number(larger)}).")
        self.out.append(f"  {{ apply ({lemma} {a} {b} {x}); [lra | lra | sign |].")
        self.out.append(
            f"    replace ({x} ^ 2) with ({write.number(of.square)}) by (first [ring | field; nonzero]). lra. }}"
        )


@final
class RoundCases(CaseScript):
    """A theorem about one round."""

    def __init__(self, name: str, setting: ClaimSetting, claim: Claim, tree: Split):
        super().__init__(name, setting, claim, tree)
        self.theorem = theorem_of_cases(name, setting, claim, tree.cases)
        self.theorems: dict[str, TheoremText] = {}

    def prove(self, case: Case) -> str:
        script = Script(theorem_of_case(case))
        self.theorems[case.name] = script.theorem
        text = script.whole()
        self.cited |= script.cited
        return text

    def statement(self) -> str:
        return self.theorem.statement()

    def introduced(self) -> list[str]:
        return self.theorem.introduced

    def applied(self, case: Case) -> list[str]:
        of_case, theorem = self.theorems[case.name], self.theorem
        names = [theorem.round.same_as(of_case.round, v) for v in sorted(of_case.round.variables)]
        parameters = [theorem.parameters[p] for p in of_case.parameters]
        return ["V", *theorem.sets, "f", *parameters, *theorem.draw_names, *names, *theorem.path_names]

    @property
    def master(self) -> TheoremText:
        return self.theorem


@final
class RunCases(CaseScript):
    """A theorem about a run."""

    def __init__(self, name: str, setting: ClaimSetting, claim: Claim, tree: Split):
        super().__init__(name, setting, claim, tree)
        self.used: dict[str, RunHypothesis] = {}
        invariants: Any = same_invariants(tree.cases)
        self.theorem = RunTheorem(name, setting, claim, proofs.Derivation((), invariants), under=tree.cases[0].under)
        moment, first = ("past", "nil") if self.theorem.drawn else ("j", "O")
        self.display = RunDisplay(self.theorem, moment, first)
        self.displays: dict[str, RunDisplay] = {}

    def prove(self, case: Case) -> str:
        theorem = RunTheorem(case.name, case.setting, case.claim, case.derivation)
        script = RunScript(theorem)
        text = script.whole()
        self.cited |= script.cited
        self.displays[case.name] = script.display
        for variable in theorem.round.variables:
            if self.theorem.round.same_as(theorem.round, variable) != variable:
                raise Missing("two names of a vector in cases")
        for of in theorem.used.values():
            if case.pinned and of.text in self._used_with_ones(of.name, case):
                continue
            known = self.used.setdefault(of.text, of)
            if known.name != of.name:
                raise Missing("two names of a hypothesis in cases")
        return text

    def _used_with_ones(self, name: str, case: Case) -> list[str]:
        """What hypotheses of this name, in the cases before, are where the case's integers are 1."""
        ones = "|".join(self.theorem.master.parameters[p] for p in case.pinned)
        return [re.sub(rf"\b({ones})\b", "1", h.text) for h in self.used.values() if h.name == name]

    def statement(self) -> str:
        return self.display.statement(self.used.values())

    def introduced(self) -> list[str]:
        return self.display.names(self.used.values())

    def applied(self, case: Case) -> list[str]:
        return self.displays[case.name].arguments()

    @property
    def master(self) -> TheoremText:
        return self.theorem.master


def script_of_cases(name: str, setting: ClaimSetting, claim: Claim, tree: Split) -> CaseScript:
    """The script of a theorem that is proved by cases."""
    return (RunCases if claim.of_run else RoundCases)(name, setting, claim, tree)
