"""Lengths in the outcomes of a draw: a name for each, and for the expectations of their products."""

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from fedconvex.claims.terms import Number, Vector, parts
from fedconvex.proofs_checks.kernel.scalars import Scalar
from fedconvex.proofs_checks.kernel.vectors import Monomial
from fedconvex.proofs_checks.rocq.lengths import FreeProducts, drawn_places, ratio
from fedconvex.proofs_checks.rocq.terms import Missing, number_of

if TYPE_CHECKING:
    from fedconvex.proofs_checks.rocq.scripts import Script


def drawn_only(script: "Script") -> set[Vector]:
    """The vectors that depend on the draw and have lengths in its outcomes alone."""
    every = [pair for x in script.numbers for pair in _lengths_in(x, False)]
    outside = {u for u, inside in every if not inside}
    return {u for u, _ in every if u not in outside and script.round.meaning(u).is_random}


def _lengths_in(x: Number, inside: bool) -> Iterator[tuple[Vector, bool]]:
    """The vectors whose lengths are in the number, and whether they are inside an expectation."""
    if x.head == "norm":
        yield x.args[0], inside
    for part in x.args:
        if type(part) is Number:
            yield from _lengths_in(part, inside or x.head == "expected")


def name_drawn_lengths(script: "Script") -> None:
    """A name for every length in an outcome, and an equation for every expectation of a polynomial in them."""
    every = (p for x in script.numbers for p in parts(x))
    expectations = dict.fromkeys(p for p in every if type(p) is Number and p.head == "expected")
    if not expectations:
        return
    known = _name_lengths(script, dict.fromkeys(u for x in expectations for u, _ in _lengths_in(x, False)))
    reader = FreeProducts(script.board, script.round.meaning, script.lengths, script.drawn_lengths)
    means: dict[tuple[str, ...], tuple[str, str]] = {(): ("1", "average_constant")}  # their texts and equations
    for place, of in enumerate(expectations, 1):
        summands = [(_factor(script, m, c), drawn_places(m)) for m, c in reader.in_draws(of.args[0]).terms.items()]
        for _, places in summands:
            if places not in means:
                means[places] = _name_mean(script, places, f"mean_{len(means)}")
        name = f"expected_{place}_is"
        inside = " + ".join(f"{factor} * ({_product(script, places)})" for factor, places in summands) or "0"
        outside = " + ".join(f"{factor} * {means[places][0]}" for factor, places in summands) or "0"
        equations = ", ".join(f"?{equation}" for _, equation in means.values())
        script.say(f"assert ({name} : {script.within.number(of)} = {outside}).")
        script.say(f"{{ transitivity (average W (fun o => {inside})).")
        script.say(f"  - apply average_ext. intro o. rewrite {', '.join(f'?{one}' for one in known)}.")
        script.say(f"    {script.plain()} {script.roots.identity}.")
        script.say(f"  - rewrite ?average_add, ?average_scale, {equations}. ring. }}")
        script.mean_names.append(name)


def _name_lengths(script: "Script", vectors: Iterable[Vector]) -> list[str]:
    """Says what the lengths are in every outcome. The names of the equations."""
    equations = []
    for place, of in enumerate(vectors, 1):
        u, name = script.board.round.put(script.round.meaning(of)), f"drawn_{place}"
        text = script.within.operand(of)
        equations.append(f"{name}_is")
        if not u.is_random:
            script.say(f"assert ({name}_is : forall o, norm ({text} o) = norm {text}).")
            script.say("{ apply length_of_fixed; [is_fixed_vector of_fixed | reflexivity]. }")
            continue
        multiples = ((known, c) for known in script.drawn_lengths if (c := ratio(u, known[0])) is not None)
        if (first := next(multiples, None)) is None:
            script.drawn_lengths.append((u, name, of))
            names = f"({name} & {name}_is & {name}_sign & {name}_square)"
            script.say(f"destruct (a_length_in_draws {text}) as {names}.")
            continue
        (_, known, vector), c = first
        size = c if script.board.field.is_nonnegative(c) else -c
        if not script.board.field.is_nonnegative(size):
            raise Missing("the length of a multiple of unknown sign")
        lemma, factor = "multiple" if size == c else "opposite", f"({script.roots.text(number_of(size))})"
        script.say(f"assert ({name}_is : forall o, norm ({text} o) = {factor} * {known} o).")
        script.say(f"{{ apply ({lemma}_in_draws {text} {script.within.operand(vector)} {factor} {known} {known}_is);")
        script.say(
            f"  [{script.canonical()[:-1] or 'idtac'}; {script.same_tactic}; {script.roots.identity} | sign]. }}"
        )
    return equations


def _factor(script: "Script", of: Monomial, c: Scalar) -> str:
    """What does not depend on the draw in a product with lengths."""
    fixed = [script.lengths[int(x[1])][1] for x in of if x[0] == "‖"]
    return f"({' * '.join([f'({script.roots.text(number_of(c))})', *fixed])})"


def _name_mean(script: "Script", places: tuple[str, ...], name: str) -> tuple[str, str]:
    """The expectation of a product of lengths: its text, and the equation that says it."""
    lengths = [script.drawn_lengths[int(place)] for place in places]
    if len(lengths) == 2 and places[0] == places[1]:
        text = script.within.operand(lengths[0][2])
        return f"inner {text} {text}", f"{lengths[0][1]}_square"
    of = f"(fun o => {_product(script, places)})" if len(places) > 1 else lengths[0][1]
    script.say(f"destruct (a_name (average W {of})) as ({name} & {name}_is).")
    script.say(f"assert ({name}_sign : 0 <= {name}).")
    script.say(f"{{ rewrite <- {name}_is. apply average_nonneg. intro o. repeat apply Rmult_le_pos; auto. }}")
    return name, f"{name}_is"


def _product(script: "Script", places: tuple[str, ...]) -> str:
    return " * ".join(f"{script.drawn_lengths[int(place)][1]} o" for place in places) or "1"
