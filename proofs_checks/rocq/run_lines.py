"""The lines of a proof about a run: a lemma about one round that is added up, and the facts of the last line."""

from typing import TYPE_CHECKING, Any

from fedconvex.claims.terms import Number, Vector, number, parameter
from fedconvex.proofs_checks.kernel import proofs
from fedconvex.proofs_checks.kernel.formulas import after_round
from fedconvex.proofs_checks.rocq.run_ends import equal_at_start
from fedconvex.proofs_checks.rocq.run_sums import Sum
from fedconvex.proofs_checks.rocq.run_terms import BEFORE, ONE, RoundRatio, at_most_zero
from fedconvex.proofs_checks.rocq.terms import Missing
from fedconvex.theory import statement

UNFOLD = "cbn [total fold_right fst snd here]"

if TYPE_CHECKING:
    from fedconvex.proofs_checks.rocq.run_scripts import RunScript


def add_up(script: "RunScript", line: Any, place: int) -> None:
    """A line about all rounds."""
    name = line.name or f"line {place}"
    potential, ratio, error = line.potential, line.ratio, line.error
    telescope = isinstance(line, proofs.Telescope)
    gain = line.gain if telescope else number(0)
    later = after_round(potential).put(parameter(BEFORE), parameter(BEFORE) + 1)
    start, end = (
        potential.put(parameter(BEFORE), number(0)),
        potential.put(parameter(BEFORE), parameter(script.theorem.count)),
    )
    known = script.theorem.terms.ratio(ratio)
    left, right = (ratio * later + gain, potential + error) if telescope else (later, ratio * potential + error)
    lemma = script.lemma(f"round_{place}", left, right, line.facts, line.squares)
    before, after = script.combined(potential), script.combined(potential.put(parameter(BEFORE), parameter(BEFORE) + 1))
    gains = [] if gain == number(0) else script.combined(gain)
    v, k = script.entries_of(before)
    next_k = script.entries_of(after)[1]
    later_v, later_k = (t.replace("INR j", "INR (S j)") for t in (v, script.written(k)))
    g, kg = script.entries_of(gains)
    w, r, e = script.written, script.writer.factor(known.ratio), script.written(error)
    if telescope:
        gained = f"(total {g} (E j) + {w(kg)})"
        goal = f"0 <= total {v} (E j) + {w(k)} + {e} - {r} * (total {later_v} (E (S j)) + {later_k}) - {gained}"
    else:
        goal = f"0 <= {r} * (total {v} (E j) + {w(k)}) + {e} - (total {later_v} (E (S j)) + {later_k})"
    goal = goal.replace("E ", "after " if script.drawn else "here ")
    script.say(f"assert (round_{place} : forall j, (j < rounds)%nat -> {goal}).")
    script.say("{ intros j a_round. rewrite ?S_INR. pose proof (pos_INR j) as before_sign.")
    factor = number(-1) * known.ratio if telescope else number(-1)
    times = ONE if telescope else known.ratio
    nexts, _ = script.entries_of([(factor * c, atom) for c, atom in after])
    heres, _ = script.entries_of([*((times * c, atom) for c, atom in before), *((number(-1) * c, a) for c, a in gains)])
    if telescope:
        rest = k + error - known.ratio * next_k - kg
    else:
        rest = known.ratio * k + error - next_k
    if script.drawn:
        script.say(f"pose proof (round_in_expectation j {nexts} {heres} {script.written(rest)}) as added.")
        script.say(f"{UNFOLD} in *. eapply same_difference; [apply added; clear added | {UNFOLD}; {script.identity}].")
        script.say("intros past of_length. assert (short : (length past < rounds)%nat) by lia.")
        script.say("assert (known : (length past <= rounds)%nat) by lia.")
    else:
        script.say("assert (short : (j < rounds)%nat) by lia. assert (known : (j <= rounds)%nat) by lia.")
    for tactic in script.use(lemma, script.moment, "(INR j)"):
        script.say(tactic)
    script.say(f"apply (same_difference _ _ _ here_is). {UNFOLD}; {script.unfold}; {script.identity}. }}")
    script.facts[name] = _of_all(script, telescope, known, start, end, gain, error)
    lemma_name = "telescope" if telescope else "iterate"
    of = "(@after W)" if script.drawn else "here"
    arguments = f"{r} {e} rounds {of} (fun j => {v}) (fun j => {w(k)})"
    arguments += f" {g} {w(kg)}" if telescope else ""
    script.multipliers.append(known.ratio)
    script.say(f"assert (line_{place} : 0 <= {script.text(script.facts[name])}).")
    script.say(f"{{ pose proof ({lemma_name} {arguments}) as all_rounds.")
    script.say(f"lapply all_rounds; [clear all_rounds; intro all_rounds | {script.positive(known.ratio)}].")
    script.say(f"specialize (all_rounds round_{place}). {UNFOLD} in all_rounds. change (INR 0) with 0 in all_rounds.")
    script.say(_powers(script, "all_rounds"))
    script.say(f"apply (same_difference _ _ _ all_rounds). cbn [after]; {script.identity}. }}")
    script.proofs_of[name] = f"line_{place}"


def _of_all(
    script: "RunScript", telescope: bool, known: RoundRatio, start: Number, end: Number, gain: Number, error: Number
) -> Sum:
    """What the line says is >= 0."""
    begun, ended = script.sum_of(start, "start"), script.sum_of(end, "end")
    place = str(script.theorem.terms.ratios.index(known))
    errors = Sum([(error * known.sum, None)])
    if telescope:
        gains = script.sum_of(gain, place)
        found = begun.plus(errors).plus(ended.times(number(-1) * known.power()))
        return found.plus(gains.times(number(-1)))
    return begun.times(known.power()).plus(errors).plus(ended.times(number(-1)))


def _powers(script: "RunScript", where: str) -> str:
    """The tactic that writes powers and their sums by names in a hypothesis."""
    powers = [f"?(weights_power {script.writer.factor(known.ratio)} rounds)" for known in script.theorem.terms.ratios]
    return f"rewrite {', '.join(powers)}, ?weights_ones in {where}; {script.sums_of(where)}."


def last_line(script: "RunScript", line: Any) -> Sum:
    """What the last line adds up; the facts are in the context afterwards."""
    whole = Sum()
    script.summands = []
    for place, (multiplier, fact) in enumerate(line.facts, 1):
        name, of = _fact(script, fact, place)
        script.summands.append((multiplier, name, of))
        script.multipliers.append(multiplier)
        whole = whole.plus(of.times(multiplier))
    claim = script.theorem.claim
    claimed = script.in_run(claim.right).plus(script.in_run(claim.left).times(number(-1)))
    equal_at_start(script, claimed)
    return claimed.plus(whole.times(number(-1)))


def _fact(script: "RunScript", fact: Any, place: int) -> tuple[str, Sum]:
    match fact:
        case proofs.Earlier(line) if line in script.facts:
            return script.proofs_of[line], script.facts[line]
        case proofs.During(("start" | "end") as when, facts, squares, _):
            return _moment(script, when, facts, squares, place)
        case proofs.Jensen(u, ratio):
            return _jensen(script, u, ratio, place)
        case proofs.Nonnegative(of):
            script.multipliers.append(of)
            return f"@SIGN {script.writer.number(of)} @", Sum([(of, None)])
    raise Missing(f"{type(fact).__name__} in a run")


def _moment(script: "RunScript", when: str, facts: Any, squares: Any, place: int) -> tuple[str, Sum]:
    """What holds at the start or at the end."""
    known = {line.name: line for line in script.theorem.derivation.of_round}

    def claim_of(identifier: str) -> Any:
        return statement(identifier).claim

    total: Number = number(0)
    for multiplier, fact in facts:
        total = total + multiplier * at_most_zero(fact, script.theorem.setting, known, claim_of)
    for weight, vector in squares:
        total = total + weight * Number("inner", (vector, vector))
    lemma = script.lemma(
        f"{when}_{place}" if when == "start" else f"{place}_end", number(0), total, facts, squares, when
    )
    of = script.sum_of(total, when)
    name = f"fact_{place}"
    if when == "start" or not script.drawn:
        script.say(f"assert ({name} : 0 <= {script.text(of)}).")
        at = script.first if when == "start" else "rounds"
        if when == "end":
            script.say("{ assert (known : (rounds <= rounds)%nat) by lia.")
        else:
            script.say("{ idtac.")
        for tactic in script.use(lemma, at):
            script.say(tactic)
        script.say(f"apply (same_difference _ _ _ here_is). {script.unfold}; {script.identity}. }}")
        return name, of
    entries, rest = script.entries_of(script.combined(total))
    script.say(f"assert ({name} : 0 <= {script.text(of)}).")
    script.say(f"{{ pose proof (in_expectation rounds {entries} {script.written(rest)}) as expected.")
    script.say(f"{UNFOLD} in *. eapply same_difference; [apply expected; clear expected | {script.identity}].")
    script.say("intros past of_length. assert (known : (length past <= rounds)%nat) by lia.")
    for tactic in script.use(lemma, "past"):
        script.say(tactic)
    script.say(f"apply (same_difference _ _ _ here_is). {UNFOLD}; {script.unfold}; {script.identity}. }}")
    return name, of


def _jensen(script: "RunScript", u: Vector, ratio: Number, place: int) -> tuple[str, Sum]:
    known = script.theorem.terms.ratio(ratio)
    at = str(script.theorem.terms.ratios.index(known))
    values = script.sum_of(Number("value", (u,)), at)
    of = values.times(1 / known.sum).plus(Sum([(number(-1), ("mean", script.display.value_at_mean(ratio, u)))]))
    least = script.theorem.setting.curvature[0]
    if least is None:
        raise Missing("Jensen's inequality for a class of the objective")
    script.multipliers += [known.ratio, least]
    name = f"fact_{place}"
    vector = script.display.vector(u, script.moment)
    domain = "list W" if script.drawn else "nat"
    lemma = "jensen_after" if script.drawn else "jensen_of_rounds"
    script.say(f"assert ({name} : 0 <= {script.text(of)}).")
    script.say("{ assert (convex : curvature_at_least 0 F).")
    script.say(f"{{ apply (curvature_weaker_least F {script.writer.factor(least)});")
    script.say(f"[exact (together_at_least f _ least) | {script.positive(least)}]. }}")
    script.say(f"pose proof ({lemma} F convex {script.writer.factor(known.ratio)} rounds")
    script.say(f"(fun {script.moment} : {domain} => ({vector})%V)) as jensen.")
    script.say(f"lapply jensen; [clear jensen; intro jensen | {script.positive(known.ratio)}].")
    script.say(f"lapply jensen; [clear jensen; intro jensen | rewrite ?weights_ones; {script.named_sums()}; lra].")
    script.say(f"rewrite ?weights_ones in jensen; {script.sums_of('jensen')}.")
    script.say(f"apply (same_difference _ _ _ jensen). {script.unfold}; {script.identity}. }}")
    return name, of
