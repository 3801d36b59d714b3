"""The claim and the setting of a published statement: its own formulas, called with the terms that they are about."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, final

from fedconvex.claims.agreement import at_terms, require_agreement
from fedconvex.claims.claim import Claim, ClaimSetting
from fedconvex.claims.settings import setting_of
from fedconvex.claims.terms import IllFormed, Number, Vector, named, number, parts
from fedconvex.errors import InvalidInput
from fedconvex.statements.assumptions import Runs
from fedconvex.statements.assumptions.base import Assumption
from fedconvex.statements.notation import Shape
from fedconvex.symbols import SYMBOL

if TYPE_CHECKING:
    from fedconvex.statements.statement import Statement

Relation = tuple[Number, str, Number]


@final
@dataclass(frozen=True)
class Conditional:
    """For `Statement.states`: a claim that holds under further conditions, (left, relation, right) as in a setting.

    They are about parameters that the formula does not have, or about the formula's value: of a number of rounds after
    which something is small, they say that it is reached. Conditions on the formula's own parameters alone belong into
    `assumes`, where its calculator checks them, too.
    """

    claim: Claim
    conditions: tuple[Relation, ...]


@final
@dataclass(frozen=True)
class Stated:
    """What a statement says in the claim language, from one call of its formula and one of its `states`.

    Attributes:
        value: the formula at terms; None where it is not called with terms.
        claim: what is claimed; None where the statement does not say in the claim language what it is about.
        shown: the same with the statement's symbol in the place of the formula's value.
        conditions: further conditions of the setting.
        chosen: parameters of the method that the formula chooses, by name.
        unused: the parts of the formula that the claim says nothing of, by name.
    """

    value: Any = None
    claim: Claim | None = None
    shown: Claim | None = None
    conditions: tuple[Relation, ...] = ()
    chosen: Mapping[str, Number] = field(default_factory=dict)
    unused: tuple[str, ...] = ()


def without_claim(statement: "Statement") -> str:
    """Why the statement makes no claim in the claim language: one of four kinds; "" for one that makes a claim.

    Their formulas are displayed and compared with the code that runs, or cited; the kernel proves none of them.
    """
    if statement.claim is not None:
        return ""
    if statement.parts:
        return f"its parts {', '.join(statement.parts)} claim it with the constants that its O(·) hides"
    if any(p.shape in (Shape.MATRICES, Shape.COLUMN) for p in statement.calculator.parameters.values()):
        return "it is about the clients' data matrices, and claims are about functions of any kind"
    if statement.claim_type.name == "DEFINITION":
        return "it defines a quantity, and says nothing of a method's rounds"
    return "its left side is a symbol alone: `states` would say what it is"


RELATIONS = {r"\le": "<=", "=": "="}


def stated_by(statement: "Statement") -> Stated:
    """What the statement says. Raises InvalidInput where its claim is not about its formula."""
    states, calculator = statement.states, statement.calculator
    if statement.parts or (states is None and statement.left is None):
        return Stated()  # of several claims, each in a setting of its own: `case_of`
    require_agreement(statement)
    value = at_terms(calculator)
    if not callable(states):
        left = states if statement.left is None else at_terms(statement.left)
        if not any(type(p) is Vector for p in parts(left)) or statement.relation not in RELATIONS:
            return Stated(value)  # the left side's parameters have no meaning as terms yet
        claim = Claim(left, RELATIONS[statement.relation], value)
        return Stated(value, claim, claim)
    # A factor, such as ρ, is shown beside the claim that is made with it.
    alone = (
        statement.relation == "=" and type(value) is Number and statement.claim_type.name in ("UPPER", "TIGHT", "LOWER")
        and SYMBOL.fullmatch(statement.symbol[0]) is not None
    )  # fmt: skip
    given = named(statement.symbol[0], value) if alone else value
    made = states(given)
    conditional = made if isinstance(made, Conditional) else Conditional(made, ())
    chosen = {name: getattr(value, name) for name in getattr(value, "_fields", ())}
    conditions = tuple(one for relation in conditional.conditions for one in _of_counts(relation))
    unused = _require_about(statement, given, conditional)
    shown = conditional.claim
    claim = replace(shown, left=shown.left.put(given, value), right=shown.right.put(given, value)) if alone else shown
    return Stated(value, claim, shown, conditions, chosen, unused)


def _of_counts(relation: Relation) -> Iterator[Relation]:
    """T ≥ max(1, ⌈x⌉) as T ≥ x, which is the same for a count."""
    left, sign, right = relation
    if sign == ">=" and left.head == "parameter":
        while right.head == "ceil" or (right.head == "max" and number(1) in right.args):
            right = next(x for x in right.args if x != number(1))
    yield left, sign, right


def _require_about(statement: "Statement", given: Any, made: Conditional) -> tuple[str, ...]:
    """The parts of the formula that the claim says nothing of.

    Raises InvalidInput where these are all, and for a condition on the formula's own parameters.
    """
    own, terms = set(statement.calculator.parameters), [made.claim.left, made.claim.right]
    for left, sign, right in made.conditions:
        names = {p.args[0] for side in (left, right) for p in parts(side) if p.head == "parameter"}
        if names <= own and not _contain((left, right), given):
            raise InvalidInput(
                "states", f"{statement.identifier}: a condition on {', '.join(sorted(names))}",
                f"is about the formula's own parameters, so that a calculator should check it ({sign})",
                f'give it in assumes, such as Condition("{min(names)}", …)',
            )  # fmt: skip
        terms += (left, right)
    of_method = {name for a in statement.every_assumption if isinstance(a, Runs) for name in a.parameters_of_method}
    values = {name: getattr(given, name) for name in getattr(given, "_fields", ())} or {"": given}
    unused = tuple(n for n, x in values.items() if n not in of_method and not _contain(terms, x)
                   and _is_ignored(statement.states, made, given, n, x))  # fmt: skip
    if len(unused) == len(values):
        problem = "claims the same whatever the formula's value is"
        raise InvalidInput("states", statement.identifier, problem, "make a claim of the value that it is given")
    return unused


def _contain(terms: Iterable[Any], value: Any) -> bool:
    return any(p == value for term in terms for p in parts(term))


def _is_ignored(states: Any, made: Any, given: Any, name: str, value: Any) -> bool:
    """Whether the claim is the same for twice the value: one that is solved for another number does not contain it."""
    try:
        other = states(given._replace(**{name: 2 * value}) if name else 2 * value)
    except IllFormed:  # it looks at the formula
        return False
    return bool((other if isinstance(other, Conditional) else Conditional(other, ())) == made)


def setting_of_statement(statement: "Statement") -> ClaimSetting:
    """The setting of the statement's claim. Raises NotASetting."""
    stated, own = statement.stated, statement.calculator.parameters
    of_left = {} if statement.left is None else statement.left.parameters
    return _setting(statement, stated.claim, {*own, *of_left}, statement.every_assumption,
                    chosen=stated.chosen, further=stated.conditions)  # fmt: skip


def case_of(statement: "Statement", place: int, times: Number) -> tuple[Claim, ClaimSetting]:
    """The claim and the setting of one part of the formula, with a constant in the place of O(·).

    Raises NotASetting, and InvalidInput where `states` is no tuple of functions, one for each part.
    """
    value, states = at_terms(statement.calculator), statement.states
    whole = value if isinstance(value, tuple) else (value,)
    if not (isinstance(states, tuple) and len(states) == len(whole) and all(map(callable, states))):
        raise InvalidInput("states", statement.identifier, "does not say what each part of the formula is a bound of",
                           "give a tuple, for each part a function from its value to a claim")  # fmt: skip
    claim = states[place](times * whole[place])
    assumptions = (*statement.assumptions, *(statement.cases[place] if statement.cases else ()))
    return claim, _setting(statement, claim, set(), assumptions)


def _setting(
    statement: "Statement", claim: Claim | None, names: set[str], assumptions: tuple[Assumption, ...], **more: Any
) -> ClaimSetting:
    """The setting of a claim with the parameters of these names, and of those that it has itself."""
    used = [] if claim is None else [part for side in (claim.left, claim.right) for part in parts(side)]
    left = {} if statement.left is None else statement.left.parameters
    notation = {**statement.notation, **statement.calculator.parameters, **left}
    named_ones = {p.args[0] for p in used if type(p) is Number and p.head == "parameter"}
    kept = {name: notation[name] for name in names | named_ones if name in notation}
    conditions = tuple(c for c in statement.calculator.all_conditions if notation[c.argument].means is None)
    return setting_of(assumptions, conditions, notation, kept, uses=frozenset(p.head for p in used), **more)
