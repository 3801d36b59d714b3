"""The lines of a proof, each from its facts with their multipliers, and its conclusion."""

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from fedconvex.claims.terms import Number, Vector, inner, parts
from fedconvex.proofs_checks.kernel.formulas import is_of_parameters
from fedconvex.proofs_checks.kernel.scalars import Scalar
from fedconvex.proofs_checks.kernel.vectors import Monomial, Quantity
from fedconvex.proofs_checks.rocq.along_steps import OF_STEPS
from fedconvex.proofs_checks.rocq.lengths import FreeProducts
from fedconvex.proofs_checks.rocq.steps import CANONICAL, PLAIN, ROOTED, Fact, Step
from fedconvex.proofs_checks.rocq.terms import Missing, divided, number_of

if TYPE_CHECKING:
    from fedconvex.proofs_checks.rocq.scripts import Script

LONG = 2000  # characters of a line for which `ring` takes seconds


def prove_line(script: "Script", step: Step) -> None:
    """Says the proof what a line says, and why."""
    if type(step.left) is Vector:
        script.say(
            f"assert ({step.name} : ({script.within.vector(step.left)})%V = ({script.within.vector(step.right)})%V)."
        )
        script.say(f"{{ {script.canonical()} {script.same_tactic}; identity. }}")
        return
    relation = "<=" if step.relation == "<=" else "="
    left, right = script.within.number(step.left), script.within.number(step.right)
    script.say(f"assert ({step.name} : {left} {relation} {right}).")
    if step.root_of:
        names = [
            script.signs[text] for x in factors_of(step.right) if (text := script.writer.number(x)) in script.signs
        ]
        rooted = "".join(f" try rewrite {e} in {name}." for name in names for e in script.roots.equations)
        script.say(f"{{ apply by_squares; [exact {step.root_of} |]. {script.plain()}{rooted} sign. }}")
        return
    body = []
    summands, proofs_of = [], []
    for place, (multiplier, fact) in enumerate(step.facts, 1):
        text = script.within.number(fact.difference)
        said = f"{text} = 0" if fact.exact else f"0 <= {text}"
        body.append(f"assert (fact_{place} : {said}) by ({_tactic(script, fact)}).")
        summands.append(f"{script.within.factor(multiplier)} * ({text})")
        proofs_of.append((multiplier, f"fact_{place}", fact.exact))
    rewritten = {}
    for place, (weight, u) in enumerate(step.squares, 1):
        written = weight
        if not step.facts and weight in script.read.nested:  # as in the claim, so that each quotient is cleared alone
            written = script.read.nested[weight]
            rewritten[weight] = f"weight_{place}"
            equation = f"{script.within.number(written)} = {script.within.number(weight)}"
            body.append(f"assert (weight_{place} : {equation}) by {script.roots.identity_of_quotients}.")
        square = f"inner {script.within.operand(u)} {script.within.operand(u)}"
        summands.append(f"{script.within.factor(written)} * {square}")
        proofs_of.append((weight, "apply inner_square", False))
    corrections = _corrections(script, step)
    total = " + ".join(summands) or "0"
    whole = total + "".join(f" + ({q}) * ({n} * {n} - {square})" for q, n, square, _ in corrections)
    apply = "by_identity" if relation == "<=" else "by_equation"
    body.append(f"apply ({apply} _ _ ({whole})).")
    body.append(f"- {script.plain()} {script.canonical()} {script.expand_tactic}. {_identity(script, whole)}.")
    body.append(f"- {_nonnegative(script, proofs_of, corrections, relation, rewritten)}")
    script.say("{ " + "\n    ".join(body) + " }")


def _identity(script: "Script", whole: str) -> str:
    """The tactic for the identity of a line. Along local steps all have divisors, and `ring` would be tried in vain."""
    along = OF_STEPS in script.theorem.parameters
    if script.read.nested and len(whole) > LONG:
        return script.roots.identity_of_quotients
    return "first [field; nonzero | ring]" if along and not script.roots.names else script.roots.identity


def _tactic(script: "Script", fact: Fact) -> str:
    if fact.proof == ROOTED:
        return f"exact {script.signs[script.writer.number(fact.difference)]}"
    if fact.signs:
        shown = (f"exact {script.signs[script.writer.number(x)]}" for x in fact.signs)
        return f"{fact.proof}; [{' | '.join(shown)}]"
    if fact.bounds:
        # `order` last: it searches among all that is known
        shown = (f"first [apply no_less; {script.known.sign(bound)} | order]" for bound in fact.bounds)
        return f"{fact.proof}; [{' | '.join(shown)}]"
    proof = fact.proof.replace(PLAIN, script.plain()[:-1] or "idtac")
    return proof.replace(CANONICAL, script.canonical()[:-1] or "idtac")


def _nonnegative(
    script: "Script",
    parts_: list[tuple[Number, str, bool]],
    corrections: list[Any],
    relation: str,
    rewritten: Mapping[Number, str],
) -> str:
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
            known = script.signs.get(script.writer.number(multiplier))
            sign = f"exact {known}" if known else f"{script.plain()[:-1] or 'idtac'}; sign"
            first = f"rewrite {rewritten[multiplier]}; " if multiplier in rewritten else ""
            one = f"apply Rmult_le_pos; [{first}{sign} | {found}]"
        if relation == "=":
            lines.append(f"apply both_zero; [| {one}]." if place else f"{one}.")
        elif exact:
            lines.append(f"apply nonneg_zero; [| {one}]." if place else f"apply Req_le; symmetry; {one}.")
        else:
            lines.append(f"apply plus_nonneg; [| {one}]." if place else f"{one}.")
    return " ".join(lines)


def _corrections(script: "Script", step: Step) -> list[tuple[str, str, str, int]]:
    """Multiples of n² − ⟨u, u⟩ = 0, for lengths n = ‖u‖, that the identity of this line needs."""
    if not script.lengths:
        return []
    reader = FreeProducts(script.board, script.round.meaning, script.lengths, script.drawn_lengths)
    rest = reader.number(step.right) - reader.number(step.left)
    for multiplier, fact in step.facts:
        rest = rest - reader.number(multiplier).times(reader.number(fact.difference))
    for weight, vector in step.squares:
        rest = rest - reader.number(weight).times(reader.number(inner(vector, vector)))
    found = []
    for place, (u, name, of) in enumerate(script.lengths):
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
        square = script.board.inner(u, u)
        square_of_unknown = Quantity({twice: script.board.field.scalar(1)})
        rest = rest - q.times(square_of_unknown - square)
        text = " + ".join(
            " * ".join([f"({script.roots.text(_divided(c))})", *(script.lengths[int(x[1])][1] for x in m)])
            for m, c in q.terms.items()
        )
        found.append((text, name, script.within.number(inner(of, of)), place))
    return found


def _divided(of: Scalar) -> Number:
    """The formula with the factors of its divisor, whose signs are known; the sign of their product has to be found."""
    if len(of.below) == 1:
        return number_of(of)
    try:
        return divided(of)
    except Missing:
        return number_of(of)


def conclude(script: "Script") -> None:
    """The claim, from the last line."""
    last = script.steps[-1]
    claim = script.theorem
    equal = f"{_inline(script)} {script.expand_tactic}; {script.roots.identity}"
    if type(claim.left) is Vector:
        script.say(f"{script.canonical()} {script.same_tactic}; identity.")
    elif claim.claim.relation == "=" or last.relation == "=":
        script.say(f"pose proof (no_difference _ _ {last.name}) as last.")
        end = "apply Rminus_diag_uniq_sym" if claim.claim.relation == "=" else "apply Req_le, Rminus_diag_uniq_sym"
        script.say(f"first [exact {last.name} | {end}; rewrite <- last; {equal}].")
    else:
        same = f"[exact (difference _ _ {last.name}) | apply Req_le; {equal}]"
        script.say(f"first [exact {last.name} | apply (by_identity _ _ _ eq_refl); eapply Rle_trans; {same}].")


def _inline(script: "Script") -> str:
    return "".join(f"{t[:-1]}; " for t in (script.plain(), script.canonical()) if t)


def factors_of(x: Number) -> Iterator[Number]:
    """The factors of a product that are formulas of parameters with differences, whose signs are no matter of form."""
    if x.head == "*":
        for factor in x.args:
            yield from factors_of(factor)
    elif is_of_parameters(x) and any(p.head in ("-", "neg") for p in parts(x)):
        yield x


def signs_in(x: Number) -> Iterator[Number]:
    """The formulas of parameters with differences, in a sum of products with lengths, whose signs its own needs."""
    if not is_of_parameters(x) and x.head in ("+", "*"):
        for part in x.args:
            yield from signs_in(part)
    else:
        yield from factors_of(x)
