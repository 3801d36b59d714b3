"""The end of a proof about a run: signs of its parameters, equations at the start, and the sum of its facts."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from fedconvex.claims.claim import Claim
from fedconvex.claims.terms import Number, number, parts
from fedconvex.proofs_checks.kernel import proofs
from fedconvex.proofs_checks.rocq.parameter_signs import ParameterSigns
from fedconvex.proofs_checks.rocq.run_sums import Key, Sum, sum_of
from fedconvex.proofs_checks.rocq.run_terms import RoundRatio
from fedconvex.proofs_checks.rocq.terms import Missing, divided
from fedconvex.proofs_checks.rocq.theorems import TheoremText

if TYPE_CHECKING:
    from fedconvex.proofs_checks.rocq.run_scripts import RunScript


def board_of_last_line(script: "RunScript", last: Sum) -> None:
    """The parameters of the last line, with all sums of powers."""
    theorem, zero = script.theorem, number(0)
    every = [c for _, _, of in script.summands for c, _ in of.terms]
    script.claims = [*script.multipliers, *every, *(c for c, _ in last.terms)]
    sums = [term for known in theorem.terms.ratios for term in (known.sum, known.power())]
    setting = theorem.terms.setting_for(*script.claims, *sums)
    rooted = [term for term in dict.fromkeys(script.claims) if any(p.head == "root" for p in parts(term))]
    script.final = TheoremText(theorem.name, setting, Claim(zero, "<=", sum(rooted, start=zero)), proofs.Derivation())


def introduce_parameters(script: "RunScript") -> None:
    """What is known of the parameters."""
    theorem = script.theorem
    powers = [known.power() for known in theorem.terms.ratios]
    script.known = ParameterSigns(script.final, [*script.claims, *powers], [], script.multipliers)
    script.say(f"assert (rounds_is : INR rounds = {theorem.master.parameters[theorem.count]}) by lra.")
    script.say("assert (a_round_at_least : (1 <= rounds)%nat) by (apply a_round_at_least; lra).")
    if theorem.setting.draws.scheme == "uniform":
        script.say("assert (any_scale : exists sg, 0 <= sg <= 1) by (exists 0; lra).")
        script.say("destruct any_scale as (sg & sg_sign & sg_most).")
    for line in theorem.terms.exponentials.introduced(script.writer):
        script.say(line)
    for known in theorem.terms.ratios:
        if known.is_one:
            continue
        (name,) = known.sum.args
        ratio = script.writer.factor(known.ratio)
        strict = theorem.terms.parameters.field.is_positive(theorem.terms.value(known.ratio))
        relation, lemma = ("<", "pow_lt") if strict else ("<=", "pow_le")
        script.say(f"assert ({name}_ratio : 0 {relation} {ratio}).")
        _ratio_sign(script, name, known, strict)
        script.say(f"assert ({name}_most : 1 <= weights {ratio} rounds) by (apply weights_most; [lra | assumption]).")
        script.say(f"assert ({name}_power : 0 {relation} 1 + ({ratio} - 1) * weights {ratio} rounds)")
        script.say(f"  by (rewrite <- weights_power; apply {lemma}; assumption).")
        script.say(f"destruct (a_name (weights {ratio} rounds)) as ({name} & {name}_is).")
        script.say(f"rewrite {name}_is in {name}_most, {name}_power. assert ({name}_sign : 0 < {name}) by lra.")
    script.out += [f"  {line}" for line in script.known.lines]


def _ratio_sign(script: "RunScript", name: str, known: RoundRatio, strict: bool) -> None:
    """The sign of a ratio, from what is known without any sum of its powers."""
    zero, setting = number(0), script.theorem.master.setting
    if script.theorem.terms.exponentials.are_in(known.ratio):
        setting = script.theorem.terms.setting_for(known.ratio)
    rooted = known.ratio if any(p.head == "root" for p in parts(known.ratio)) else zero
    alone = TheoremText(f"{script.theorem.name}_{name}", setting, Claim(zero, "<=", rooted), proofs.Derivation())
    signs = ParameterSigns(alone, [1 / known.ratio if strict else known.ratio], [], [known.ratio])
    script.ratio_lemmas += signs.lemmas
    script.say("{ " + "\n    ".join([*signs.lines, "first [assumption | lra]. }"]))


def conclude_run(script: "RunScript") -> None:
    """The claim, as the sum of the facts."""
    leftovers = script.leftovers
    for line in script.display.rewriting(script):
        script.say(line)
    summands = [f"{script.writer.factor(m)} * ({script.text(of)})" for m, _, of in script.summands]
    summands += [text for text, _ in leftovers]
    script.say(f"apply (by_identity _ _ ({' + '.join(summands)})).")
    if script.known.quotients:
        script.say(f"- {script.unfold}. {_with_names(script.known.quotients)}")
    else:
        script.say(f"- {script.unfold}; {script.identity}.")
    steps = []
    entries = [(script.known.signs[script.writer.number(m)], name, False) for m, name, _ in script.summands]
    entries += [("", name, True) for _, name in leftovers]
    for place in reversed(range(len(entries))):
        sign, name, exact = entries[place]
        how, _, known = name.rpartition(", ")
        one = (
            f"{'apply times_zero; ' if how == 'times_zero' else ''}exact {known}"
            if exact
            else f"apply Rmult_le_pos; [exact {sign} | exact {name}]"
        )
        if exact:
            steps.append(f"apply nonneg_zero; [| {one}].")
        else:
            steps.append(f"apply plus_nonneg; [| {one}]." if place else f"{one}.")
    script.say("- " + " ".join(steps))
    signs = script.known.signs
    roots = script.known.roots
    identity = roots.identity_of_quotients if roots.squares else roots.identity

    def finished(line: str) -> str:
        while "@SIGN " in line:
            before, _, rest = line.partition("@SIGN ")
            inside, _, after = rest.partition(" @")
            line = before + signs[inside] + after
        return line.replace("IDENTITY", identity)

    script.finish = finished


def _with_names(quotients: Mapping[str, str]) -> str:
    """The tactics for an identity with quotients that divide: by names, until nothing divides by them any more.

    `field` would ask whether their numerators are 0, in which roots of formulas hide the sign.
    """
    tactics, back = [], []
    for place, (known, text) in enumerate(quotients.items(), 1):
        name = f"quotient_{place}"
        tactics.append(f"destruct (a_name ({text})) as ({name} & {name}_is).")
        tactics.append(f"rewrite {name}_is in {known}. rewrite ?{name}_is.")
        back.append(f"rewrite <- ?{name}_is; ")
    tactics.append(f"field_simplify_eq; [{''.join(back)}IDENTITY | nonzero].")
    return " ".join(tactics)


def leftovers_of(script: "RunScript", last: Sum) -> list[tuple[str, str]]:
    """Equations between numbers at the start that the sum of the facts needs: what is 0, and its proof."""
    value = script.final.board.parameters.value
    grouped: dict[Key | None, list[Number]] = {}
    for c, key in last.terms:
        grouped.setdefault(key, []).append(c)
    found: list[tuple[str, str]] = []
    for key, equal in script.equal_at_start.items():
        coefficients = grouped.pop(key, [])
        if not sum_of(coefficients, value):
            continue
        if equal is not None:
            grouped.setdefault(equal, []).extend(coefficients)
        factor = " + ".join(script.writer.factor(c) for c in coefficients)
        instead = "0" if equal is None else script.key(equal)
        found.append((f"({factor}) * ({script.key(key)} - {instead})", f"times_zero, equal_{key[1]}"))
    left = {key: total for key, of in grouped.items() if (total := sum_of(of, value))}
    ending = any(key is not None and key[0] == "end" for key in left)
    for key, equal in script.equal_at_start.items():
        if (
            ending and key[0] == "" and equal is not None and equal in left
        ):  # a number at the start that is one at any time
            total = left.pop(equal)
            factor = script.writer.factor(divided(-total))
            found.append((f"{factor} * ({script.key(key)} - {script.key(equal)})", f"times_zero, equal_{key[1]}"))
            left[key] = total
    ended = {key: total for key, total in left.items() if ending and key is not None and key[0] in ("end", "")}
    begun = {key: total for key, total in left.items() if key not in ended}
    if any(key is None or key[0] not in ("", "start") for key in begun) or (ended and script.drawn):
        raise Missing(f"an identity between numbers of a run: {list(left)}")
    if begun:
        found.append(_relation(script, begun, "start"))
    if ended:
        found.append(_relation(script, ended, "end"))
    return found


def _relation(script: "RunScript", left: Mapping[Any, Any], when: str) -> tuple[str, str]:
    """A linear relation between numbers at the start or at the end."""
    terms = {name: of for of, name in script.atoms.items()}
    claimed, text = number(0), []
    for key, coefficient in left.items():
        c = divided(coefficient)
        script.claims.append(c)
        claimed = claimed + c * script.theorem.as_claimed(terms[key[1]])
        text.append(f"{script.writer.factor(c)} * {script.key(key)}")
    name = "begun" if when == "start" else "ended"
    lemma = script.lemma(name if when == "start" else f"{name}_end", number(0), claimed, (), (), when, "=")
    if lemma.board.number(claimed).terms:
        raise Missing(f"an identity between numbers of a run: {list(left)}")
    script.say(f"assert ({name} : {' + '.join(text)} = 0).")
    script.say("{ idtac." if when == "start" else "{ assert (known : (rounds <= rounds)%nat) by lia.")
    for tactic in script.use(lemma, script.first if when == "start" else "rounds"):
        script.say(tactic)
    script.say(f"apply (equal_difference _ _ _ here_is). {script.unfold}; {script.identity}. }}")
    return f"({' + '.join(text)})", f"exact, {name}"


def equal_at_start(script: "RunScript", claimed: Sum) -> None:
    """Numbers at the start that are others there, since the first state is known."""
    first = [key for _, key in claimed.terms if key is not None]
    every = [key for _, _, of in script.summands for _, key in of.terms if key is not None]
    terms = {name: of for of, name in script.atoms.items()}
    board = script.theorem.master.board.at_its_start()
    known: list[tuple[Key, Any]] = []
    script.equal_at_start = {}
    for key in dict.fromkeys([*first, *every]):
        if key[0] not in ("", "start"):
            continue
        term = script.theorem.as_claimed(terms[key[1]])
        quantity = board.number(term)
        same = next((k for k, q in known if not (q - quantity).terms), None)
        if (same is None and quantity.terms) or (key[0] == "" and same is None):
            known.append((key, quantity))
            continue
        script.equal_at_start[key] = same
        other = number(0) if same is None else script.theorem.as_claimed(terms[same[1]])
        lemma = script.lemma(f"equal_{key[1]}", term, other, (), (), "start", "=")
        instead = "0" if same is None else script.key(same)
        script.say(f"assert (equal_{key[1]} : {script.key(key)} - {instead} = 0).")
        script.say("{ idtac.")
        for tactic in script.use(lemma, script.first):
            script.say(tactic)
        script.say(f"apply Rminus_diag_eq. {script.unfold}. exact here_is. }}")
