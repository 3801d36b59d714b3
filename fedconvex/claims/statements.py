"""The claim and the setting of a published statement: its own formulas, called with the terms that they are about."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol, final

from fedconvex.claims.claim import Claim, ClaimSetting
from fedconvex.claims.settings import setting_of
from fedconvex.claims.terms import Number, Vector, parameter, parts
from fedconvex.statements.assumptions.base import Assumption
from fedconvex.statements.formula import CheckedFormula
from fedconvex.statements.notation import Parameter, Shape

if TYPE_CHECKING:
    from fedconvex.statements.statement import Statement


@final
@dataclass(frozen=True)
class Conditional:
    """For `Statement.states`: a claim that holds under further conditions, (left, relation, right) as in a setting.

    They are about parameters that the formula does not have. The claim is a function of the formula's value, or does
    not contain it: of a number of rounds after which something is small, the conditions say that it is reached.
    """

    claim: Claim | Callable[[Any], Claim]
    conditions: tuple[tuple[Number, str, Number], ...]


class ClaimingStatement(Protocol):
    """What a statement must offer to state a claim; `fedconvex.statements.Statement` says what each attribute means."""

    @property
    def calculator(self) -> CheckedFormula: ...
    @property
    def left(self) -> CheckedFormula | None: ...
    @property
    def relation(self) -> str: ...
    @property
    def states(self) -> Any: ...
    @property
    def claim(self) -> Claim | None: ...
    @property
    def notation(self) -> Mapping[str, Parameter]: ...
    @property
    def every_assumption(self) -> tuple[Assumption, ...]: ...


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


def claim_of(statement: ClaimingStatement) -> Claim | None:
    """The claim; None where the statement does not say in the claim language what it is about."""
    if statement.states is None and statement.left is None:
        return None
    states = statement.states.claim if isinstance(statement.states, Conditional) else statement.states
    if isinstance(states, Claim):
        return states
    right = at_terms(statement.calculator)
    if callable(states):
        found: Claim = states(right)
        return found
    left = statement.states if statement.left is None else at_terms(statement.left)
    if not any(type(p) is Vector for p in parts(left)) or statement.relation not in RELATIONS:
        return None  # the left side's parameters have no meaning as terms yet
    return Claim(left, RELATIONS[statement.relation], right)


def at_terms(calculator: CheckedFormula) -> Any:
    """The formula at terms: what each parameter means, or the parameter itself."""
    meanings = {n: parameter(n) if p.means is None else p.means for n, p in calculator.parameters.items()}
    return calculator.formula(**meanings)


def setting_of_statement(statement: ClaimingStatement) -> ClaimSetting:
    """The setting of the statement's claim. Raises NotASetting."""
    claim = statement.claim
    sides = [] if claim is None else [claim.left, claim.right]
    used = [part for side in sides for part in parts(side)]
    parameters = {**statement.calculator.parameters, **(statement.left.parameters if statement.left else {})}
    named = {p.args[0] for p in used if type(p) is Number and p.head == "parameter"}
    notation = {**statement.notation, **parameters}
    kept = {name: notation[name] for name in {*parameters, *named} if name in notation}
    conditions = tuple(c for c in statement.calculator.all_conditions if notation[c.argument].means is None)
    conditional = statement.states if isinstance(statement.states, Conditional) else None
    value = (
        None
        if claim is None or (conditional and isinstance(conditional.claim, Claim))
        else at_terms(statement.calculator)
    )
    # A formula with several parts, such as μ and ρ, may choose a parameter of the method.
    chosen = {name: getattr(value, name) for name in getattr(value, "_fields", ())}
    return setting_of(
        statement.every_assumption, conditions, notation, kept,
        uses=frozenset(p.head for p in used), chosen=chosen, further=conditional.conditions if conditional else (),
    )  # fmt: skip
