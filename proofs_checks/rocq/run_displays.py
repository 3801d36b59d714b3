"""What a reader sees of a theorem about a run: its variables, hypotheses and claim."""

from collections.abc import Iterable
from typing import Any, final

from fedconvex.claims.terms import Number, Vector, parts, without_names
from fedconvex.proofs_checks.rocq.run_terms import ONE, squared_length
from fedconvex.proofs_checks.rocq.runs import RunHypothesis, RunTheorem
from fedconvex.proofs_checks.rocq.terms import Missing, Writer
from fedconvex.proofs_checks.rocq.theorems import INFIMUM

OF_RUN = ("after", "sum of rounds", "mean of rounds")


@final
class RunDisplay:
    """Writes the theorem."""

    def __init__(self, theorem: RunTheorem, moment: str, first: str):
        self.theorem, self.moment, self.first = theorem, moment, first
        self.drawn = theorem.drawn

    def vector(self, u: Vector, moment: str) -> str:
        """The vector at a moment."""
        return self.theorem.plain(moment).vector(self.theorem.round.vector(u))

    def value_at_mean(self, ratio: Number, u: Vector) -> str:
        """The expected value at the mean of a vector over the rounds."""
        vector, r = self.vector(u, self.moment), self._plain.factor(self.theorem.terms.ratio(ratio).ratio)
        if self.drawn:
            return f"after rounds (fun past => value F (mean_along {r} (fun past => ({vector})%V) past))"
        return f"value F (mean_of_rounds {r} (fun j => ({vector})%V) rounds)"

    @property
    def _plain(self) -> Writer:
        return self.theorem.plain(self.first)

    @property
    def _writer(self) -> "_OfRun":
        return _OfRun(self)

    def conclusion(self) -> str:
        """The claim."""
        claim = self.theorem.printed
        return f"{self._writer.number(claim.left)} <= {self._writer.number(claim.right)}"

    def rewriting(self, script: Any) -> list[str]:
        """Tactics that write the claim's sums as sums of single numbers, and powers by the sums of powers."""
        lines, writer = [], self._writer
        shown: set[str] = set()
        claim = self.theorem.printed
        for part in [*parts(claim.left), *parts(claim.right)]:
            if type(part) is not Number or part.head not in OF_RUN:
                continue
            lines += self._single(part, script, shown)
        for part in [*parts(claim.left), *parts(claim.right)]:
            if type(part) is Number and (length := squared_length(self.theorem.terms.rewritten(part))) is not None:
                lines.append(f"replace ({writer.number(part)}) with ({writer.number(length[0] * length[1])})")
                lines.append("  by (rewrite <- norm_square; ring).")
        lines += self.theorem.terms.exponentials.rewriting((claim.left, claim.right), script.writer, script.identity)
        for power, known, more in self.theorem.terms.displayed:
            text = writer.number(power)
            if text in shown:
                continue
            shown.add(text)
            whole = script.writer.number(known.power(more))
            if self.theorem.terms.is_doubled(power.args[1]):
                base = script.writer.factor(self.theorem.terms.rewritten(power.args[0]))
                (name,) = known.sum.args
                text = f"{base} ^ (2 * rounds)"
                ratio = script.writer.factor(known.ratio)
                same = "" if ratio == f"({base} ^ 2)" else f"replace ({base} ^ 2) with {ratio} by ({script.identity}); "
                proof = f"rewrite pow_mult; {same}rewrite weights_power, {name}_is; reflexivity"
            elif known.is_one:
                proof = "apply pow1"
            else:
                (name,) = known.sum.args
                lemma = {0: "weights_power", 1: "power_more", -1: "power_less"}[more]
                given = "; [| apply Rgt_not_eq; assumption | assumption]" if more == -1 else ""
                proof = f"rewrite {lemma}{given}"
                proof += f"; rewrite {name}_is, ?pow_1; reflexivity"
            lines.append(f"replace ({text}) with ({whole}) by (symmetry; {proof}).")
        lines.append(f"rewrite ?weights_ones; {script.named_sums()}.")
        return lines

    def _single(self, part: Number, script: Any, shown: set[str]) -> list[str]:
        """What a sum over rounds or an expectation of several numbers is."""
        inside = part.args[-1]
        if type(inside) is not Number:
            return []
        of = script.combined(self.theorem.terms.rewritten(inside))
        if len(of) == 1 and of[0][0] == ONE and of[0][1] is not None:
            return []
        if not self.drawn and part.head == "after":
            return []
        text = self._writer.number(Number("sum of rounds", part.args) if part.head == "mean of rounds" else part)
        if text in shown:
            return []
        shown.add(text)
        entries, rest = script.entries_of(of)
        k = script.writer.factor(rest)
        whole = script.text(script.sum_of(self.theorem.terms.rewritten(inside),
                                          "end" if part.head == "after" else script._place(part.args[0])))  # fmt: skip
        cbn = "cbn [total fold_right fst snd here]"
        name = f"shown_{len(shown)}"
        lines = [f"assert ({name} : {text} = {whole}).", "{ "]
        of_moment = f"total {entries} (fun x => x {self.moment}) + {k}"
        if part.head == "after":
            lines[-1] += f"transitivity (after rounds (fun past => {of_moment}))."
            lines.append(f"- apply after_ext; intros past _; {cbn}; {script.unfold}; {script.identity}.")
            lines.append(f"- rewrite after_total; {cbn}; {script.identity}. }}")
        else:
            r = script.writer.factor(self.theorem.terms.ratio(part.args[0]).ratio)
            each = f"total {entries} ({'after' if self.drawn else 'here'} j) + {k}"
            lines[-1] += f"transitivity (sum_of_rounds {r} rounds (fun j => {each}))."
            lines.append("- f_equal. apply FunctionalExtensionality.functional_extensionality; intro j.")
            if self.drawn:
                lines.append("  rewrite <- after_total. apply after_ext; intros past _.")
            lines.append(f"  {cbn}; {script.unfold}; {script.identity}.")
            lines.append(
                f"- rewrite sum_of_total; {cbn}. rewrite ?weights_ones; {script.named_sums()}; {script.identity}. }}"
            )
        lines.append(f"rewrite {name}; clear {name}.")
        return lines

    # ---- the statement

    def _processes(self) -> tuple[list[str], list[str]]:
        """The vectors that depend on the moment, and those that do not."""
        found: dict[bool, set[str]] = {False: set(), True: set()}
        for name in self.theorem.round.variables:
            found[self.theorem.is_fixed(name)].add(self.theorem.process(name)[0])
        return sorted(found[False]), sorted(found[True])

    def names(self, used: Iterable[RunHypothesis]) -> list[str]:
        """The names of everything before the conclusion, as they are introduced."""
        master, (moving, fixed) = self.theorem.master, self._processes()
        return ["V", *master.sets, "f", "F", *(["EF"] if self.drawn else []), *master.parameters.values(),
                *master.draw_names, "rounds", *moving, *fixed, *master.path_names, *(h.name for h in master.hypotheses),
                "rounds_is_", *(h.name for h in used)]  # fmt: skip

    def arguments(self) -> list[str]:
        """What the theorem takes before its hypotheses, by the names above."""
        master, (moving, fixed) = self.theorem.master, self._processes()
        return ["V", *master.sets, "f", *master.parameters.values(), *master.draw_names, "rounds", *moving, *fixed,
                *master.path_names]  # fmt: skip

    def statement(self, used: Iterable[RunHypothesis]) -> str:
        """The theorem without its proof."""
        moving, fixed = self._processes()
        lines = [
            f"Theorem {self.theorem.name} :",
            f"  forall (V : space) (C{' W' if self.drawn else ''} : weighted_set) (f : C -> function V),",
            "  let F := together f in",
        ]
        if self.drawn:
            lines.append("  let EF : function (random W C V) := together (fun _ : W => F) in")
        lines.append(f"  forall {' '.join(self.theorem.master.parameters.values())} : R,")
        if self.drawn:
            lines.append(f"  forall {self.theorem.master._draw()},")
        lines.append("  forall rounds : nat,")
        moment = "list W" if self.drawn else "nat"
        if moving:
            lines.append(f"  forall {' '.join(moving)} : {moment} -> families C V,")
        if fixed:
            lines.append(f"  forall {' '.join(fixed)} : families C V,")
        if (path := self.theorem.round.path) is not None:
            lines.append(f"  forall ({path.steps} : nat) ({path.name} : nat -> nat -> families C V),")
        count = self.theorem.master.parameters[self.theorem.count]
        hypotheses = [*(h.text for h in self.theorem.master.hypotheses), f"{count} = INR rounds",
                      *(h.text for h in used)]  # fmt: skip
        lines += [f"  ({text}) ->" for text in hypotheses]
        return "\n".join([*lines, f"  {self.conclusion()}."])


class _OfRun(Writer):
    """Writes the claim: numbers at the start, expectations after all rounds, and sums over the rounds."""

    def __init__(self, display: RunDisplay):
        self.display, self.theorem = display, display.theorem
        super().__init__({}, {**display.theorem.master.parameters, INFIMUM: INFIMUM}, "everyone")

    def number(self, x: Number) -> str:
        display = self.display
        match x.head, x.args:
            case "named", (_, y):
                return self.number(y)
            case "expected", (y,):
                return self.number(y)
            case "infimum", ():
                return INFIMUM
            case "after", (y,):
                if not display.drawn:
                    return f"({self._at(y, 'rounds')})"
                return f"after rounds (fun past => {self._at(y, 'past')})"
            case "sum of rounds", (r, y):
                ratio = display._plain.factor(self.theorem.terms.ratio(r).ratio)
                of = self._at(y, display.moment)
                each = f"after j (fun past => {of})" if display.drawn else of
                return f"sum_of_rounds {ratio} rounds (fun j => {each})"
            case "mean of rounds", (r, y):
                known = self.theorem.terms.ratio(r)
                ratio = display._plain.factor(known.ratio)
                below = self.of_parameter[self.theorem.count] if known.is_one else f"weights {ratio} rounds"
                return f"({self.number(Number('sum of rounds', (r, y)))}) / ({below})"
            case "value", (Vector() as u,) if any(p.head == "mean of rounds" for p in parts(u)):
                while u.head == "named":
                    u = u.args[1]
                if u.head != "mean of rounds":
                    raise Missing("a value in a run")
                return display.value_at_mean(*u.args)
            case "^", (r, exponent) if exponent.head != "constant":
                _, known, more = next(p for p in self.theorem.terms.displayed if p[0] == x or _same(p[0], x))
                if self.theorem.terms.is_doubled(exponent):
                    return f"{self.factor(r)} ^ (2 * rounds)"
                ratio = display._plain.factor(known.ratio)
                return f"{ratio} ^ {'rounds' if not more else f'(rounds {chr(43) if more > 0 else chr(45)} 1)%nat'}"
            case (("inner" | "norm" | "value"), _):
                return self._at(x, display.first)
            case "exp", (y,):
                return f"exp {self.factor(y)}"
        return super().number(x)

    def _at(self, of: Number, moment: str) -> str:
        return self.theorem.plain(moment).number(self.theorem.round.number(self.theorem.terms.rewritten(of)))


def _same(one: Number, other: Number) -> bool:
    return bool(without_names(one) == without_names(other))
