"""Signs of formulas as lemmas: the kernel's substitutions, written out so that Rocq checks every one of them.

A condition x ≥ b is used up by x = b + s with a slack s ≥ 0, x ≤ b by x = b/(1 + s) where x > 0, and x < b by
x = b·s/(s + t) with t > 0 where x may be 0, or x ≤ b with s + t > 0; what is left is a quotient of polynomials whose
coefficients have one sign.
"""

from collections.abc import Iterable, Mapping
from typing import Any

from fedconvex.claims.terms import Number, parts
from fedconvex.proofs_checks.kernel.scalars import Field, Scalar, Substitutions, has_sign
from fedconvex.proofs_checks.rocq.substitutions import Used, is_positive, put_in, substitutions
from fedconvex.proofs_checks.rocq.terms import Missing, Writer, number_of

LONGEST = 400  # terms of a polynomial that is written out
OF_CLIENTS = ("curvature", "similar ", "single ")  # words in hypotheses that are about no parameters


def sign_lemma(
    name: str,
    field: Field,
    formula: Number,
    value: Scalar,
    strictly: bool,
    names: Mapping[str, str],
    given: Iterable[str],
    below: Iterable[Scalar] = (),
) -> str:
    """The lemma that the formula is >= 0, or > 0, wherever the hypotheses `given` hold; `below` are its divisors."""
    relation = "<" if strictly else "<="
    hypotheses = [h for h in given if not any(word in h for word in OF_CLIENTS)]
    head = _head(name, relation, Writer({}, names).number(formula), names, hypotheses)
    lines = ["Proof.", "  intros."]
    occurring = (name for name, n in zip(field.signs, (value.above * value.below).degrees(), strict=False) if n)
    if any(name.startswith("√") for name in occurring):
        raise Missing("the sign of a formula with roots")
    if any(map(_is_hard, below)):
        return _of_quotient(name, field, formula, value, strictly, names, hypotheses)
    lines += [f"  subst {names[chosen]}." for chosen in field.chosen if chosen in names]
    found = substitutions(field, value, strictly)
    plain = not any(p.head in ("root", "max") for p in parts(formula))
    if found is None or not plain:
        lines.append("  sign.")
        return "\n".join([head, *lines, "Qed."])
    return "\n".join([head, *lines, *_by_substitutions(field, found, strictly, names), "Qed."])


def rooted_sign_lemma(
    name: str, field: Field, value: Scalar, strictly: bool, names: Mapping[str, str]
) -> tuple[str, str, list[str]]:
    """The lemma that the value is >= 0, or > 0, in the symbols of the field, whose roots have these names, too.

    Beside it the formula that the lemma is about, and what it asks of the conditions. Raises Missing where no
    substitutions are found.
    """
    found = substitutions(field, value, strictly)
    if found is None:
        raise Missing("the sign of a formula with roots")
    relations = {"positive": "<", "nonnegative": "<="}
    of_positive = {x for x in names if x.startswith("√") and field.is_positive(field.symbol(x))}
    divide = {x for x, n in zip(field.signs, value.below.degrees(), strict=False) if n}
    of_positive |= {
        x for x in names if x in divide and any(strict and d == field.symbol(x) for d, strict in field.known)
    }
    signs = {x: "positive" if x in of_positive else sign for x, sign in field.signs.items()}
    given = [f"0 {relations[sign]} {names[x]}" for x, sign in signs.items() if x in names and sign in relations]
    asked = []
    for (difference, strict), _ in found[0]:
        text = f"({_text(difference.above, field, names)}) / ({_text(difference.below, field, names)})"
        asked.append(f"0 {'<' if strict else '<='} {text}")
    given += asked
    given += [f"0 < {_text(factor, field, names)}" for factor in unclear_factors(value.below, value.field)]
    squares = [f"{names[x]} * {names[x]} = {x[1:]}" for x in names if x.startswith("√") and x[1:].isdigit()]
    given += squares
    relation = "<" if strictly else "<="
    target = f"({_text(value.above, field, names)}) / ({_factors(value.below, field, names)})"
    head = _head(name, relation, target, names, given)
    known = [f"  assert (square_{place} : {text}) by assumption." for place, text in enumerate(squares, 1)]
    script = _by_substitutions(field, found, strictly, names)
    if squares:
        using = " ".join(f"square_{place}" for place in range(1, len(squares) + 1))
        script = [line.replace("field; nonzero", f"field [{using}]; nonzero") for line in script]
    return "\n".join([head, "Proof.", "  intros.", *known, *script, "Qed."]), target, asked


def _by_substitutions(
    field: Field, found: tuple[list[Used], Scalar], strictly: bool, names: Mapping[str, str]
) -> list[str]:
    """The tactics that substitute, and see the sign of what is left."""
    now = dict(names)
    script = []
    for place, ((difference, strict), step) in enumerate(found[0], 1):
        script += _substituted(field, difference, strict, step, now, place, found[0][: place - 1])
    left = found[1]
    constant, factors = left.above.factor()
    visible = constant > 0 and all(c > 0 for factor, _ in factors for c in factor.coeffs())
    above = _factors(left.above, field, now) if visible else _text(left.above, field, now)
    quotient = f"({above}) / ({_factors(left.below, field, now)})"
    goal = (
        "match goal with |- 0 <= ?e => replace e with"
        if not strictly
        else "match goal with |- 0 < ?e => replace e with"
    )
    pairs = "repeat one_of_two; " if strictly and found[0] and found[0][-1][1][4] else ""
    script.append(f"{goal} ({quotient}) by (field; nonzero) end; {pairs}sign.")
    return [f"  {line}" for line in script]


def _of_quotient(
    name: str, field: Field, formula: Number, value: Scalar, strictly: bool, names: Mapping[str, str], given: list[str]
) -> str:
    """The lemma, from the signs of numerator and denominator: with slacks in them, divisors would hide their signs."""
    sign = 1 if is_positive(field, Scalar(value.below, field.one, field)) else -1
    above, below = (Scalar(p * sign, field.one, field) for p in (value.above, value.below))
    texts = [number_of(above), number_of(below)]
    of_parts = [
        sign_lemma(f"{name}_above", field, texts[0], above, strictly, names, given),
        sign_lemma(f"{name}_below", field, texts[1], below, True, names, given),
    ]
    factors = [Scalar(factor, field.one, field) for factor in unclear_factors(value.below, value.field)]
    if len(factors) > 1 or any(factor.above != below.above for factor in factors):  # each is a divisor of its own
        of_parts += [
            sign_lemma(f"{name}_factor_{place}", field, number_of(factor), factor, True, names, given)
            for place, factor in enumerate(factors, 1)
        ]
    else:
        factors = []
    relation, product = ("<", "Rmult_lt_0_compat") if strictly else ("<=", "Rmult_le_pos")
    quotient = "({}) / ({})".format(*(Writer({}, names).number(x) for x in texts))
    variables = " ".join(dict.fromkeys(names.values()))
    head = _head(name, relation, Writer({}, names).number(formula), names, given)
    inverse = "apply Rinv_0_lt_compat" if strictly else "left; apply Rinv_0_lt_compat"
    proof = [
        f"assert (below : 0 < {Writer({}, names).factor(texts[1])}) by (apply ({name}_below {variables}); assumption).",
        *(
            f"assert (factor_{place} : 0 < {Writer({}, names).factor(number_of(factor))}) "
            f"by (apply ({name}_factor_{place} {variables}); assumption)."
            for place, factor in enumerate(factors, 1)
        ),
        *(_product_of_sums(below, names) if factors else []),
        f"match goal with |- 0 {relation} ?e => replace e with ({quotient}) by (field; nonzero) end.",
        f"apply {product}; [apply ({name}_above {variables}) | {inverse}]; assumption.",
    ]
    return "\n\n".join([*of_parts, "\n".join([head, "Proof.", "  intros.", *(f"  {line}" for line in proof), "Qed."])])


def _product_of_sums(of: Scalar, names: Mapping[str, str]) -> list[str]:
    """The tactic that says that the factors that are sums have a positive product, as `field` asks for it."""
    field, product, texts = of.field, of.field.one, []
    for factor, power in of.above.factor()[1]:
        if len(factor) > 1:
            signed = factor if is_positive(field, Scalar(factor, field.one, field)) else -factor
            product = product * signed ** int(power)
            texts += [f"({_text(signed, field, names)})"] * int(power)
    if len(texts) < 2:
        return []
    whole = _text(product, field, names)
    return [f"assert (sums : 0 < {whole}) by (replace ({whole}) with ({' * '.join(texts)}) by ring; sign)."]


def _head(name: str, relation: str, text: str, names: Mapping[str, str], given: Iterable[str]) -> str:
    variables = " ".join(dict.fromkeys(names.values()))
    return (
        f"Lemma {name} : forall {variables} : R,\n  "
        + " -> ".join([*(f"({h})" for h in given), f"0 {relation} {text}"])
        + "."
    )


def _is_hard(divisor: Scalar) -> bool:
    """Whether a factor of it is no linear formula and shows no sign."""
    factors = (factor for factor, _ in divisor.above.factor()[1])
    return any(factor.total_degree() > 1 and len({c > 0 for c in factor.coeffs()}) > 1 for factor in factors)


def _substituted(
    field: Field, difference: Scalar, strictly: bool, step: Any, names: dict[str, str], place: int, before: list[Used]
) -> list[str]:
    """The tactics of one substitution; `names` then has the slack in the symbol's place."""
    k, above, below, _, _ = step
    symbol = list(field.signs)[k]
    made = Substitutions(field)
    condition, denominator = difference.above, difference.below
    for _, earlier in before:
        condition, denominator = made._put_in(condition, earlier), made._put_in(denominator, earlier)
    if symbol not in names:
        raise Missing("the sign of a formula with roots")
    old, new = names[symbol], f"{names[symbol]}_{place}"
    if condition.degrees()[k] != 1:
        raise Missing("a condition that is not linear")
    linear = made._by_power(condition, k)[1]
    if not has_sign(denominator, 1, field.signs):
        linear, condition = -linear, -condition
    relation, product = ("<", "Rmult_lt_0_compat") if strictly else ("<=", "Rmult_le_pos")

    def text_of(polynomial: Any) -> str:
        return _text(polynomial, field, names)

    above_now, below_now = put_in(field, made, [earlier for _, earlier in before], difference)
    common = condition.gcd(above_now)  # before `made`, which puts 2 for (√2)²
    # a hypothesis b <= a says that 0 <= (a − b) · times
    times = field.made((condition / common) * below_now, above_now / common)
    cleared = f"(({text_of(times.above)}) / ({text_of(times.below)}))"
    of_hypothesis = (
        f"match goal with H : ?b {relation} ?a |- 0 {relation} ?c => replace c with ((a - b) * {cleared}) by "
        f"(field; nonzero); apply {product}; [lra | sign] end"
    )
    known = f"assert (known_{place} : 0 {relation} {text_of(condition)}) by (first [lra | {of_hypothesis} | sign])."
    spare = next((n for n in field.spare.values() if n == f"{symbol}′" and n not in names), "")
    later = {**names, symbol: new, spare: f"{new}'"}
    whole = f"({_text(above, field, later)}) / ({_text(below, field, later)})"
    if below.degrees()[k] == 0 and above:  # x = b + s
        divisor, slack = text_of(linear), f"({text_of(condition)}) / ({text_of(linear)})"
    elif below.degrees()[k] == 1 and above.degrees()[k] == 0:  # x = b/(1 + s)
        divisor = f"({text_of(-linear)}) * {old}"
        slack = f"({text_of(condition)}) / ({divisor})"
    elif below.degrees()[k] == 1:  # x = b·s/(s + t)
        rest = made._by_power(condition, k)[0]
        lines = [
            known,
            f"assert (divisor_{place} : 0 < {text_of(-linear)}) by sign.",
            f"assert (bound_{place} : 0 < {text_of(rest)}) by",
            f"  (first [sign | replace ({text_of(rest)}) with ({text_of(condition)} + ({text_of(-linear)}) * {old})",
            "   by ring; sign]).",
            f"assert (slack_{place} : exists {new} {new}', 0 <= {new} /\\ 0 {relation} {new}' /\\ "
            f"0 < {new} + {new}' /\\ {old} = {whole}).",
            f"{{ exists {old}, (({text_of(condition)}) / ({text_of(-linear)})).",
            "  repeat split; [sign | sign | | field; nonzero].",
            f"  replace ({old} + (({text_of(condition)}) / ({text_of(-linear)}))) with (({text_of(rest)}) / "
            f"({text_of(-linear)})) by (field; nonzero); sign. }}",
            f"destruct slack_{place} as ({new} & {new}' & {new}_sign & {new}'_sign & {new}_both & {old}_is).",
            f"subst {old}.",
        ]
        names.update({symbol: new, spare: f"{new}'"})
        return lines
    else:
        raise Missing("a condition of another kind")
    lines = [
        known,
        f"assert (divisor_{place} : 0 < {divisor}) by sign.",
        f"assert (slack_{place} : exists {new}, 0 {relation} {new} /\\ {old} = {whole}).",
        f"{{ exists ({slack}). split; [sign | field; nonzero]. }}",
        f"destruct slack_{place} as ({new} & {new}_sign & {old}_is). subst {old}.",
    ]
    names[symbol] = new
    return lines


def _factors(polynomial: Any, field: Field, names: Mapping[str, str]) -> str:
    """The polynomial as a product, so that each factor's sign is seen; of factors the positive multiple is written."""
    constant, factors = polynomial.factor()
    texts = []
    for factor, power in factors:
        negative = not is_positive(field, Scalar(factor, field.one, field)) and (
            factor.leading_coefficient() < 0 or is_positive(field, Scalar(-factor, field.one, field))
        )
        constant = -constant if negative and int(power) % 2 else constant
        text = _text(-factor if negative else factor, field, names)
        texts.append(f"({text}) ^ {int(power)}" if int(power) > 1 else f"({text})")
    whole = int(constant)
    return " * ".join([str(whole) if whole >= 0 else f"(- {-whole})", *texts])


def unclear_factors(polynomial: Any, field: Field) -> list[Any]:
    """The factors of a polynomial that show no sign; their multiples by -1 where these are positive."""
    found = []
    for factor, _ in polynomial.factor()[1]:
        signed = factor if is_positive(field, Scalar(factor, field.one, field)) else -factor
        if len({c > 0 for c in signed.coeffs()}) > 1:
            found.append(signed)
    return found


def _text(polynomial: Any, field: Field, names: Mapping[str, str]) -> str:
    used = {x for x, n in zip(field.signs, polynomial.degrees(), strict=False) if n} if polynomial else set()
    if used - names.keys():
        raise Missing(
            f"the sign of a formula with symbols of the kernel's own, {', '.join(sorted(used - names.keys()))}"
        )
    if len(polynomial) > LONGEST:
        raise Missing("the sign of a formula of so many terms")
    return Writer({}, names, root=lambda of: _root_name(of, names)).number(
        number_of(Scalar(polynomial, field.one, field))
    )


def _root_name(of: Number, names: Mapping[str, str]) -> str:
    (inside,) = of.args
    symbol = f"√{str(inside.args[0]).removeprefix('√')}"
    if symbol not in names:
        raise Missing("the sign of a formula with roots")
    return names[symbol]
