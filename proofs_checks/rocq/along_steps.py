"""Theorems whose proof follows a potential along any number of local steps.

A lemma about one step from any points, one about the last step, and induction. The powers q^i of a number 0 < q < 1 and
q^e, with the numbers i of the steps before one and e of all, are parameters of the lemmas.
"""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any, final

from fedconvex.claims.claim import Claim, ClaimSetting
from fedconvex.claims.terms import Number, Vector, family, local_step, number, parameter, with_parts
from fedconvex.proofs_checks.kernel import proofs
from fedconvex.proofs_checks.kernel.parameters import SettingParameters, any_steps, integer
from fedconvex.proofs_checks.kernel.replay import _terms
from fedconvex.proofs_checks.kernel.scalars import Refused
from fedconvex.proofs_checks.rocq.terms import Missing
from fedconvex.proofs_checks.rocq.theorems import TheoremText

BEFORE, OF_STEPS, OF_BEFORE = "steps_before", "power", "power_before"  # i, q^e, q^i
ZERO, ONE = number(0), number(1)


@final
class StepTerms:
    """Terms without powers of the number of steps. `ratio` is the one whose powers there are; None for none."""

    def __init__(self, setting: ClaimSetting, claim: Claim, derivation: proofs.Derivation):
        self.setting, self.count = setting, any_steps(setting)
        self.parameters = SettingParameters(setting, [*_terms(claim), *_terms(derivation)])
        self.ratio: Number | None = None
        if {BEFORE, OF_STEPS, OF_BEFORE} & setting.signs.keys():
            raise Missing(f"parameters called {BEFORE}, {OF_STEPS} or {OF_BEFORE}")

    def rewritten(self, of: Any) -> Any:
        """The term, claim or proof without powers of numbers of steps."""
        if type(of) in (Vector, Number):
            match of.head, of.args:
                case "named", (_, inside) if type(of) is Number:
                    return self.rewritten(inside)
                case "parameter", (proofs.STEP,):
                    return parameter(BEFORE)
                case "^", (r, exponent) if exponent.head != "constant":
                    return self._power(self.rewritten(r), r, exponent)
        return with_parts(of, self.rewritten)

    def _power(self, plain: Number, r: Number, exponent: Number) -> Number:
        value = self.parameters.value
        if self.ratio is None:
            self.ratio = plain
        if value(self.ratio) != value(r):
            raise Missing("powers of several numbers along local steps")
        for name, of in ((self.count, OF_STEPS), (proofs.STEP, OF_BEFORE)):
            for times in (1, -1, 2, -2):
                try:
                    more = integer(value(exponent) - value(parameter(name)) * times)
                except Refused:
                    continue
                whole = parameter(of) if abs(times) == 1 else parameter(of) ** 2
                found = whole if times > 0 else 1 / whole
                return found if not more else found * self.ratio**more if more > 0 else found / self.ratio ** (-more)
        raise Missing("a power of a number of steps of this form")

    def setting_for(self, step: bool) -> ClaimSetting:
        """The setting, with what is known of the powers; of one step, those before it as well."""
        signs, conditions = dict(self.setting.signs), list(self.setting.conditions)
        if step:
            signs[BEFORE] = "nonnegative"
        if self.ratio is not None:
            value, field = self.parameters.value(self.ratio), self.parameters.field
            if not (field.is_positive(value) and field.is_positive(1 - value)):
                raise Missing("powers of a number that may not lie between 0 and 1")
            signs[OF_STEPS] = "positive"
            # The first two follow from the others, but signs are seen by them in fewer steps.
            conditions = [(self.ratio, ">", ZERO), (ONE, ">=", parameter(OF_STEPS)), *conditions]
            conditions.append((self.ratio, ">=", parameter(OF_STEPS)))
            if step:
                signs[OF_BEFORE] = "positive"
                conditions.append((ONE, ">=", parameter(OF_BEFORE)))
        return replace(self.setting, signs=signs, conditions=tuple(conditions))

    def bernoulli(self, order: int) -> Number:
        """What Bernoulli's inequality of this order says is >= 0."""
        assert self.ratio is not None
        e, q = parameter(self.count), self.ratio
        gap: Number = parameter(OF_STEPS) - 1 + e * (1 - q)
        return gap if order == 1 else (1 - q) ** 2 * e * (e - 1) / 2 - gap


def put_in(of: Any, instead: Mapping[Any, Any]) -> Any:
    """The term with others in the place of some, as they stand."""
    if of in instead:
        return instead[of]
    return type(of)(of.head, tuple(put_in(a, instead) if type(a) in (Number, Vector) else a for a in of.args))


@final
class LemmasAlongSteps:
    """The pieces of a proof with one line `AlongSteps`: the claims of its lemmas, with their proofs."""

    def __init__(self, setting: ClaimSetting, claim: Claim, derivation: proofs.Derivation):
        lines, last = derivation.lines[:-1], derivation.lines[-1]
        along = [line for line in lines if isinstance(line, proofs.AlongSteps)]
        if len(along) != 1 or not isinstance(last, proofs.Combine) or claim.relation != "<=":
            raise Missing("a proof along local steps of this form")
        self.terms = terms = StepTerms(setting, claim, derivation)
        self.line: proofs.AlongSteps = terms.rewritten(along[0])
        self.others = terms.rewritten(tuple(line for line in lines if line is not along[0]))
        self.claim: Claim = terms.rewritten(claim)
        self.last: proofs.Combine = terms.rewritten(last)
        self.invariants = derivation.invariants
        self.u = family(self.line.family)

    def potential(self, before: Number, of_before: Number, at: Vector) -> Number:
        """The potential after so many steps, with this power, at these points."""
        instead = {parameter(BEFORE): before, parameter(OF_BEFORE): of_before, self.u: at}
        found: Number = put_in(self.line.potential, instead)
        return found

    def of_step(self) -> tuple[Claim, proofs.Derivation]:
        """A step does not make the potential larger."""
        before, of_before, q = parameter(BEFORE), parameter(OF_BEFORE), self.terms.ratio
        more = of_before if q is None else q * of_before
        claim = Claim(
            self.potential(before + 1, more, local_step(self.u)), "<=", self.potential(before, of_before, self.u)
        )
        line = proofs.Combine(claim.left, claim.right, self.line.facts, self.line.squares)
        return claim, proofs.Derivation((*lines_under(line.facts, self.others), line), self.invariants)

    @property
    def multiplier(self) -> Number:
        """That of the line in the last one."""
        found = [m for m, fact in self.last.facts if self._is_along(fact)]
        if len(found) != 1:
            raise Missing("a line along local steps that is used several times")
        return found[0]

    def _is_along(self, fact: Any) -> bool:
        return isinstance(fact, proofs.Earlier) and fact.line == self.line.name

    def of_last_step(self) -> tuple[Claim, proofs.Derivation]:
        """0 <= right - left - multiplier · (the potential at the start - that before the last step)."""
        e, q = parameter(self.terms.count), self.terms.ratio
        less = ONE if q is None else parameter(OF_STEPS) / q
        falls = self.potential(ZERO, ONE, self.line.start) - self.potential(e - 1, less, Vector("before last step"))
        rest = self.claim.right - self.claim.left - self.multiplier * falls
        facts = tuple(pair for pair in self.last.facts if not self._is_along(pair[1]))
        line = proofs.Combine(ZERO, rest, facts, self.last.squares)
        return Claim(ZERO, "<=", rest), proofs.Derivation((*lines_under(facts, self.others), line), self.invariants)

    def lemmas(self, name: str) -> tuple[TheoremText, TheoremText]:
        """The lemmas about one step, and about the last one."""
        any_round = replace(self.terms.setting_for(True), rests=False)  # a step is one from any points
        of_step = TheoremText(f"{name}_step", any_round, *self.of_step())
        of_last = TheoremText(f"{name}_last", self.terms.setting_for(False), *self.of_last_step(), of_last_step=True)
        for order in self.orders:
            of_last.assume_bernoulli(order, self.terms.bernoulli(order))
        return of_step, of_last

    def share_vectors(self, theorem: TheoremText, lemmas: Iterable[TheoremText]) -> None:
        """Gives the theorem the vectors of the lemmas that no step moves, and its answers."""
        for lemma in lemmas:
            for name in lemma.round.variables:
                if not self.is_moving(lemma, name):
                    theorem.round.same_as(lemma.round, name)
        _ = theorem.round.answers

    def is_moving(self, lemma: TheoremText, name: str) -> bool:
        """Whether the variable of a lemma is a point that the steps move."""
        keys = (f"family {self.line.family}", "before last step")
        return any(lemma.round.made.get(key) == Vector("variable", (name,)) for key in keys)

    @property
    def orders(self) -> list[int]:
        """The orders of Bernoulli's inequality that the proof uses."""
        uses = (fact for line in self.others for _, fact in getattr(line, "facts", ()))
        return sorted({fact.order for fact in uses if isinstance(fact, proofs.BernoulliPower)})


def has_potential(derivation: proofs.Derivation) -> bool:
    """Whether the proof follows a potential along local steps."""
    return any(isinstance(line, proofs.AlongSteps) for line in derivation.lines)


def lines_under(facts: Iterable[tuple[Any, Any]], lines: Iterable[Any]) -> tuple[Any, ...]:
    """Those of the lines that these facts, with their multipliers, rest on, in their order."""
    known = {line.name: line for line in lines}
    needed: set[str] = set()
    waiting = _named(facts)
    while waiting:
        name = waiting.pop()
        if name in needed or name not in known:
            continue
        needed.add(name)
        line = known[name]
        waiting += [line.of] if isinstance(line, proofs.Root) else []
        waiting += _named(getattr(line, "facts", ()))
    return tuple(line for line in known.values() if line.name in needed)


def _named(facts: Iterable[tuple[Any, Any]]) -> list[str]:
    """The names of the lines that these facts are."""
    found: list[str] = []
    for _, fact in facts:
        match fact:
            case proofs.Earlier(line):
                found.append(line)
            case proofs.Product(one, other):
                found += [one, other]
    return found
