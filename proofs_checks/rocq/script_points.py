"""Names in a proof: of the gradients, values and lengths at its points; points that are one have one of each."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, final

from fedconvex.claims.terms import Number, Vector, gradient, norm, parts, value
from fedconvex.proofs_checks.kernel.scalars import Field
from fedconvex.proofs_checks.kernel.vectors import APART, SAME, Key, Vec
from fedconvex.proofs_checks.rocq.drawn_lengths import drawn_only
from fedconvex.proofs_checks.rocq.lengths import ratio
from fedconvex.proofs_checks.rocq.objective import name_objective_gradients
from fedconvex.proofs_checks.rocq.proximal_points import name_gradient
from fedconvex.proofs_checks.rocq.terms import Missing, Writer, divided, number_of
from fedconvex.proofs_checks.rocq.theorems import divisors

if TYPE_CHECKING:
    from fedconvex.proofs_checks.rocq.scripts import Script


def name_gradients(script: "Script") -> None:
    """A name for the gradients at every point; points that are one have one."""
    at_points: dict[Any, tuple[Vector, str]] = {}
    script.rewrites = []  # text of a gradient, and the equation that rewrites it
    known: set[str] = set()
    others: list[tuple[str, str, Vector]] = []
    script.unknown_gradients = []
    for name, at, _ in script.round.gradients:
        text = _gradient(script, at)
        script.rewrites.append((text, name))
        known.add(text)
        at_points[_key(script, at)] = (at, name)
    terms = dict.fromkeys(u.args[0] for u in script.vectors() if u.head == "gradient")
    for at in list(terms):
        if both := selected_points(script, at):
            terms |= dict.fromkeys(both)
    for at in sorted(terms, key=_depth):
        text = _gradient(script, at)
        if text in known:
            continue
        known.add(text)
        key, name = _key(script, at), f"g{len(known)}"
        if key in at_points:
            others.append((name, text, at_points[key][0]))
            continue
        at_points[key] = (at, f"{name}_is")
        script.rewrites.append((text, f"{name}_is"))
        _new_gradient(script, name, text, at)
    name_objective_gradients(script)
    _state_basis(script)
    _rest(script)
    for name, text, first in others:
        script.say(f"assert ({name}_is : {text} = {_gradient(script, first)}).")
        script.say(f"{{ f_equal. {script.canonical()} {script.same_tactic}; identity. }}")
        script.rewrites.append((text, f"{name}_is"))


def selected_points(script: "Script", at: Vector) -> tuple[Vector, Vector] | None:
    """The points u and v where this one is v for the drawn clients, and u for the others."""
    if at.head == "variable" and (equals := script.round.variables[at.args[0]].equals) is not None:
        return selected_points(script, equals)
    match at.head, at.args:
        case "+", (u, Vector("selected", (Vector("-", (v, again)),))) if again == u:
            return u, v
    return None


def _key(script: "Script", at: Vector) -> Any:
    """Equal for points that are one."""
    return script.board.round.put(script.round.meaning(at)).key


def _gradient(script: "Script", at: Vector) -> str:
    return script.within.vector(gradient(at))


def _new_gradient(script: "Script", name: str, text: str, at: Vector) -> None:
    if both := selected_points(script, at):
        old, new = map(partial(_gradient, script), both)
        script.say(f"assert ({name}_is : {text} = ({old} + selected d ({new} - {old}))%V) by apply of_selected.")
        return
    script.unknown_gradients.append((name, at))
    if script.round.meaning(at).is_random:
        script.say(f"destruct (split_drawn ({text})) as ({name}_b & {name}_d & {name}_is & {name}_bm & {name}_dm).")
        script.of_draw.append(name)
        return
    if script.theorem.drawn:
        script.say(f"assert ({name}_fixed : fixed ({text})) by is_fixed_vector of_fixed.")
    if script.theorem.one:
        script.say(f"destruct (a_name ({text})) as ({name} & {name}_is).")
        script.same.append(name)
    elif script.theorem.setting.single_client:
        if "minimiser" in script.round.made and at == script.round.made["minimiser"]:
            script.say(f"assert ({name}_is : {text} = zero) by exact (zero_of_single one_client _ stationary).")
            return
        script.say(f"destruct (a_name ({text})) as ({name} & {name}_is).")
        script.say(f"pose proof (mean_of_single one_client {name}) as {name}_mean.")
        script.same.append(name)
    elif "minimiser" in script.round.made and at == script.round.made["minimiser"]:
        script.say(f"destruct (a_name ({text})) as ({name} & {name}_is). rewrite {name}_is in stationary.")
        if script.theorem.drawn:
            script.say(f"rewrite {name}_is in {name}_fixed.")
            script.say(f"pose proof (is_apart_of _ {name}_fixed stationary) as {name}_dm.")
        script.apart.append(name)
    elif not name_gradient(script, name, text, at):
        script.say(script.split_tactic(name, f"({text})", f" {name}_fixed"))
        script.same.append(f"{name}_b")
        script.apart.append(f"{name}_d")


def _state_basis(script: "Script") -> None:
    mean = "(fun u => u)" if script.theorem.one else "(@mean C V)"
    same, apart = ("".join(f"{v} :: " for v in vectors) + "nil" for vectors in (script.same, script.apart))
    law = "mean_of_one" if script.theorem.one else "mean_of_clients"
    if script.theorem.drawn:
        draws = script.theorem.setting.draws
        chance, sg, picks, kept = "0", "", "(mean_of_picks d)", "(fun _ => zero)"
        assert draws.active is not None
        active = script.theorem.writer.factor(draws.active)
        if draws.scheme == "uniform":
            assert draws.clients is not None
            chance = f"({active} / {script.theorem.writer.factor(draws.clients)})"
            sg, picks, kept = "sg", "(mean_of_drawn d)", "(selected d)"
        law_ = f"random_basis mean_of_all {picks} expectation {kept} {chance} {sg or f'(1 / {active})'}"
        script.say(f"assert (vectors : {law_} ({same}) ({apart})).")
        script.say("{ constructor; [exact law | repeat constructor; apply_conj | repeat constructor; apply_conj]. }")
        if script.of_draw:
            means, rests = ("".join(f"{v}_{end} :: " for v in script.of_draw) + "nil" for end in "bd")
            script.say(f"assert (drawn : {law_.replace('random', 'drawn', 1)} ({same}) ({apart}) ({means}) ({rests})).")
            script.say(
                "{ constructor; [exact vectors | repeat constructor; assumption | repeat constructor; assumption]. }"
            )
        return
    script.say(f"assert (vectors : basis {mean} ({same}) ({apart})).")
    script.say(f"{{ constructor; [apply {law} | repeat constructor; assumption | repeat constructor; assumption]. }}")


def _rest(script: "Script") -> None:
    """What a fixed point's equations eliminate."""
    moves = [(new, old, _coordinates(script, new - old)) for new, old in script.theorem.rests]
    for one in eliminations(moves, script.board.field, script.within):
        for line in one.lines(script.within, script.canonical(), script.roots.identity):
            script.say(line)
        script.rewrites.append((one.name, f"{one.name}_is"))


def _coordinates(script: "Script", u: Vector) -> Vec:
    """The vector in those of the proof's basis: means and deviations, by their names."""
    match u.head, u.args:
        case "variable", (name,):
            variable = script.round.variables[name]
            if variable.equals is not None:
                return _coordinates(script, variable.equals)
            return _of_basis(script, (SAME, name) if variable.shared else None, name)
        case "gradient", (at,):
            key = _key(script, at)
            for _, point, equals in script.round.gradients:
                if _key(script, point) == key:
                    return _coordinates(script, equals)
            for name, point in script.unknown_gradients:
                if _key(script, point) == key:
                    alone = point == script.round.made.get("minimiser")
                    return _of_basis(script, (APART, name) if alone else None, name)
        case "mean", (v,):
            return _coordinates(script, v).only(SAME)
        case "+", (v, w):
            return _coordinates(script, v) + _coordinates(script, w)
        case "-", (v, w):
            return _coordinates(script, v) - _coordinates(script, w)
        case "*", (c, v):
            return _coordinates(script, v) * script.board.parameters.value(c)
        case "/", (v, c):
            return _coordinates(script, v) / script.board.parameters.value(c)
    raise Missing(f"the vector {u.head} at a fixed point")


def _of_basis(script: "Script", alone: tuple[str, str] | None, name: str) -> Vec:
    keys = [(SAME, f"{name}_b"), (APART, f"{name}_d")] if alone is None else [alone]
    return Vec(dict.fromkeys(keys, script.board.field.scalar(1)))


def name_values(script: "Script") -> None:
    """A name for every function value; values at points that are one are equal."""
    at_points: dict[Any, tuple[str, str]] = {}
    script.value_names = []
    texts: set[str] = set()
    terms = dict.fromkeys(p.args[0] for x in script.numbers for p in parts(x) if p.head == "value")
    for place, at in enumerate(terms, 1):
        key, text = _key(script, at), script.within.number(value(at))
        if text in texts:
            continue
        texts.add(text)
        script.value_names.append(f"v{place}_is")
        if key not in at_points:
            at_points[key] = (f"v{place}", f"v{place}_is")
            script.say(f"destruct (a_name ({text})) as (v{place} & v{place}_is).")
            continue
        first, equation = at_points[key]
        script.say(f"assert (v{place}_is : {text} = {first}).")
        script.say(f"{{ rewrite <- {equation}. f_equal. {script.canonical()} {script.same_tactic}; identity. }}")


def name_lengths(script: "Script") -> None:
    """A name for every length; those of multiples of one vector are multiples of one length."""
    script.lengths = []
    script.length_names = []
    texts: set[str] = set()
    drawn = drawn_only(script)
    terms = dict.fromkeys(p.args[0] for x in script.numbers for p in parts(x) if p.head == "norm")
    for place, of in enumerate(terms, 1):
        u, text, name = script.board.round.put(script.round.meaning(of)), script.within.number(norm(of)), f"n{place}"
        if text in texts or of in drawn:
            continue
        texts.add(text)
        script.length_names.append(f"{name}_is")
        if not u.parts:
            script.say(f"assert ({name}_is : {text} = 0).")
            script.say(f"{{ apply norm_of_zero. {script.canonical()} {script.same_tactic}; identity. }}")
            continue
        multiple = next(((k, c) for k, (v, _, _) in enumerate(script.lengths) if (c := ratio(u, v)) is not None), None)
        if multiple is None:
            script.lengths.append((u, name, of))
            script.say(
                f"destruct (a_length {script.within.operand(of)}) as "
                f"({name} & {name}_is & {name}_sign & {name}_square)."
            )
            continue
        first, c = multiple
        _, known, vector = script.lengths[first]
        size = c if script.board.field.is_nonnegative(c) else -c
        if not script.board.field.is_nonnegative(size):
            raise Missing("the length of a multiple of unknown sign")
        formula, how = _positive(script, number_of(size), size)
        factor = f"({script.roots.text(formula)})"
        lemma = "norm_multiple" if size == c else "norm_opposite"
        script.say(f"assert ({name}_is : {text} = {factor} * {known}).")
        operands = f"{script.within.operand(of)} {script.within.operand(vector)}"
        same = f"{script.canonical()[:-1] or 'idtac'}; {script.same_tactic}"
        script.say(f"{{ apply ({lemma} {operands} {factor} {known} {known}_is); "
                 f"[{same}; {script.roots.identity} | {how}]. }}")  # fmt: skip


def _positive(script: "Script", formula: Number, size: Any) -> tuple[Number, str]:
    """A formula that multiplies a length, and the tactic that shows that it is >= 0."""
    if "-" not in script.roots.text(formula) or script.roots.names:
        return formula, "sign"
    formula, known = divided(size), len(script.known.lines)
    for below in divisors([formula]):
        script.known.divisor(f"of_length_{len(script.known.divisor_texts)}", below)
    for line in script.known.lines[known:]:
        script.say(line)
    return formula, script.known.sign(formula)


def _depth(u: Vector) -> int:
    inside = max((_depth(a) for a in u.args if type(a) is Vector), default=0)
    return inside + (u.head == "gradient")


# Fixed points: each equation that a round leaves the state as it is eliminates a basic vector of the proof.


@final
@dataclass(frozen=True)
class Elimination:
    """`name` equals `instead`, by the hypothesis `rests_{place}`, whose sides are `new` and `old`.

    name = instead + factor · part, where part is the mean of new − old, or its deviation from the mean.
    """

    name: str
    instead: str
    factor: str
    of_mean: bool
    place: int
    new: Vector
    old: Vector

    def lines(self, within: Writer, canonical: str, identity: str) -> list[str]:
        """The tactics that show the equation, called `{name}_is`."""
        new, old = within.vector(self.new), within.vector(self.old)

        def part(first: str) -> str:
            whole = f"(({first}) - ({old}))"
            return f"mean {whole}" if self.of_mean else f"({whole} - mean {whole})"

        said = f"{self.name} = ({self.instead})%V"
        return [
            f"assert ({self.name}_is : {said}).",
            f"{{ transitivity (({self.instead}) + {self.factor} * {part(new)})%V.",
            f"  - {canonical} same_vector; {identity}.",
            f"  - rewrite rests_{self.place}. {canonical} same_vector; {identity}. }}",
        ]


def eliminations(moves: list[tuple[Vector, Vector, Vec]], field: Field, writer: Writer) -> Iterator[Elimination]:
    """The equations, as the kernel's `Round.rest` finds them, each without the vectors of those before it.

    moves: the part of the state after the round, before it, and their difference in the basis.
    """
    done: list[tuple[Key, Vec]] = []

    def text(u: Vec) -> str:
        return " + ".join(f"{writer.factor(number_of(c))} * {key[1]}" for key, c in u.parts.items()) or "zero"

    for place, (new, old, move) in enumerate(moves, 1):
        for kind in (SAME, APART):
            left = move
            for key, zero in done:
                left = left - zero * left.parts[key] if key in left.parts else left
            left = left.only(kind)
            for key in [k for k, c in left.parts.items() if field.is_nonzero(c)][:1]:
                c = left.parts[key]
                done.append((key, left / c))
                rest = Vec({k: -x / c for k, x in left.parts.items() if k != key})
                yield Elimination(key[1], text(rest), writer.factor(number_of(1 / c)), kind == SAME, place, new, old)
