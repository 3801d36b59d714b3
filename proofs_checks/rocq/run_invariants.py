"""What a round leaves as it is, by induction over the rounds of a run."""

from typing import TYPE_CHECKING

from fedconvex.claims.terms import Vector
from fedconvex.proofs_checks.kernel.formulas import after_round
from fedconvex.proofs_checks.rocq.terms import Writer

if TYPE_CHECKING:
    from fedconvex.proofs_checks.rocq.run_scripts import RunScript


def kept_by_rounds(script: "RunScript") -> None:
    """Says the proof that the invariants hold before every round; `always_h` is that of the memory h."""
    invariants = script.theorem.derivation.invariants
    if not invariants:
        return
    claims, begins, keeps = [], [], []
    for place, (what, always) in enumerate(invariants, 1):
        sort, _, part = what.partition(" ")
        term = Vector("server", (0,)) if what == "server" else Vector(sort, (part, 0))
        new = after_round(term)
        begins.append(script.lemma(f"{place}_begins", term, always, (), (), "start", "="))
        keeps.append(script.lemma(f"{place}_kept", new, after_round(always), (), (), "round", "="))
        name = str(script.theorem.round.vector(term).args[0])
        texts = {v: script.theorem.in_round(v, script.moment) for v in list(script.theorem.round.variables)}
        write = Writer(texts, script.theorem.master.parameters, script.theorem.setting.draws.scheme,
                       function="EF" if script.drawn else "F")  # fmt: skip
        equation = f"{texts[name]} = ({write.vector(script.theorem.round.vector(always))})%V"
        claims.append((name, equation))
    length = "length past" if script.drawn else "j"
    whole = " /\\ ".join(f"({equation})" for _, equation in claims)
    script.say(f"assert (kept : forall {script.moment}, ({length} <= rounds)%nat -> {whole}).")
    script.say(f"{{ induction {script.moment} as [| {'o past' if script.drawn else 'j'} before]; intro known.")
    script.say("- " + "repeat split." if len(claims) > 1 else "-")
    for begin in begins:
        applied, tactics = script.theorem.applied(begin, script.first)
        script.say(f"  {'+ ' if len(claims) > 1 else ''}refine ({applied}){tactics}.")
    now = "length past" if script.drawn else "j"
    script.say(f"- assert (short : ({now} < rounds)%nat) by (simpl in known; lia).")
    script.say(f"  assert (earlier : ({now} <= rounds)%nat) by lia. specialize (before earlier). clear known.")
    pattern = " & ".join(f"before_{name}" for name, _ in claims)
    script.say(f"  destruct before as ({pattern})." if len(claims) > 1 else f"  rename before into {pattern}.")
    script.say("  repeat split." if len(claims) > 1 else "  idtac.")
    for place, kept in enumerate(keeps, 1):
        applied, tactics = script.theorem.applied(kept, script.moment)
        for name, _ in claims:
            tactics = tactics.replace(f"always_{name} {script.moment} known", f"before_{name}")
        bullet = "+ " if len(claims) > 1 else ""
        names = {v: script.theorem.round.same_as(kept.round, v) for v in kept.round.variables}
        write = Writer({v: script.theorem.in_round(mine, script.moment) for v, mine in names.items()},
                       kept.parameters, kept.draws, function="EF" if script.drawn else "F")  # fmt: skip
        claim = f"({write.vector(kept.left)})%V = ({write.vector(kept.right)})%V"
        script.say(f"  {bullet}assert (kept_{place} : {claim}).")
        script.say(f"    {{ refine ({applied}){tactics}. }}")
        if script.drawn:
            script.say(f"    exact (f_equal (fun u : random W C V => (fun _ => u o) : random W C V) kept_{place}). ")
        else:
            script.say(f"    exact kept_{place}.")
    script.out[-1] += " }"
    for place, (name, equation) in enumerate(claims):
        proof = "kept past known" if script.drawn else "kept j known"
        for _ in range(place):
            proof = f"proj2 ({proof})"
        if place < len(claims) - 1:
            proof = f"proj1 ({proof})"
        script.say(f"assert (always_{name} : forall {script.moment}, ({length} <= rounds)%nat -> {equation}).")
        script.say(f"{{ intros {script.moment} known. exact ({proof}). }}")
