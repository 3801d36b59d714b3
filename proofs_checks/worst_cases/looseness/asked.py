"""Which question belongs to a statement or claim, with the numbers that it takes."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache, partial
from importlib import import_module
from typing import Any, final

from fedconvex.claims.claim import Claim, ClaimSetting
from fedconvex.claims.on_runs.admissibility import holds
from fedconvex.claims.on_runs.evaluation import number_at
from fedconvex.claims.settings import NotASetting
from fedconvex.errors import InvalidInput
from fedconvex.proofs_checks.worst_cases.looseness.claimed import defaults, needed_by, question_of, taken_by
from fedconvex.proofs_checks.worst_cases.looseness.registry import Compared, Multiplied, Played, registered
from fedconvex.proofs_checks.worst_cases.looseness.registry import needed as needed_numbers
from fedconvex.proofs_checks.worst_cases.looseness.registry import taken as taken_numbers
from fedconvex.proofs_checks.worst_cases.questions.refusals import NotPosed, written
from fedconvex.proofs_checks.worst_cases.questions.settings import can_be_assumed
from fedconvex.statements.conditions import by_definition, refuse
from fedconvex.statements.statement import ClaimType, Statement
from fedconvex.validation import instance_of

BOUNDS = (ClaimType.UPPER, ClaimType.LOWER, ClaimType.TIGHT)


@final
@dataclass(frozen=True, eq=False)
class Asked:
    """The question about a statement, or a claim: which numbers it takes, which it needs, and how to pose it."""

    statement: Statement | Claim
    taken: tuple[str, ...]
    needed: tuple[str, ...]
    build: Callable[..., Played | Compared | Multiplied]
    setting: ClaimSetting | None = None  # of a claim

    @property
    def identifier(self) -> str:
        return identifier_of(self.statement)

    @property
    def bound(self) -> str:
        """What the bound is called."""
        return self.statement.calculator.name if isinstance(self.statement, Statement) else "bound"

    def check(self, numbers: Mapping[str, Any]) -> None:
        """Refuses numbers that the statement excludes."""
        if isinstance(self.statement, Statement):
            _check_of_statement(self.statement, numbers)
        elif self.setting is not None:
            _check_of_claim(self.setting, {**defaults(self.statement, self.setting), **numbers})


def identifier_of(statement: Statement | Claim) -> str:
    """The identifier of a statement; the words "the claim" for a claim."""
    return statement.identifier if isinstance(statement, Statement) else "the claim"


def question_about(statement: Statement | Claim | str, setting: ClaimSetting | None = None) -> Asked:
    """The question. Raises InvalidInput where there is none."""
    load()
    if isinstance(statement, str):
        from fedconvex.theory import statement as find

        statement = find(statement)
    if isinstance(statement, Claim):
        if setting is None:
            raise InvalidInput(
                "setting", None, "is needed for a claim", "give all that the claim assumes: a ClaimSetting"
            )
        return _of_claim(statement, statement, setting)
    instance_of(statement, Statement, "statement", "a statement", "give one such as fedconvex.theory.fedprox.theorem4")
    if (build := registered().get(statement)) is not None:
        return Asked(statement, taken_numbers(build), needed_numbers(build), partial(build, statement))
    try:
        claim, its_setting = statement.claim, statement.setting
    except NotASetting:
        claim = None
    if claim is None or claim.relation != "<=" or not can_be_assumed(its_setting):
        raise InvalidInput("statement", statement.identifier, "has no worst case to compare with",
                           "`looseness_of()` lists those that are")  # fmt: skip
    return _of_claim(statement, claim, its_setting)


def _of_claim(statement: Statement | Claim, claim: Claim, setting: ClaimSetting) -> Asked:
    def build(**numbers: Any) -> Played | Compared:
        return question_of(claim, setting, numbers)

    return Asked(statement, taken_by(claim, setting), needed_by(claim, setting), build, setting)


def looseness_of() -> dict[str, tuple[str, ...]]:
    """The identifiers of the statements that `looseness` knows, with the numbers that each needs."""
    return {identifier: asked.needed for identifier, asked in questions().items()}


@cache
def questions() -> Mapping[str, Asked]:
    """The questions about the catalogue's bounds, by identifier; of claims, those that can be posed somewhere."""
    from fedconvex.theory import papers

    load()
    found = {}
    for statement in (s for paper in papers().values() for s in paper.everything):
        try:
            asked = question_about(statement)
            if asked.setting is not None:
                if statement.claim_type not in BOUNDS:
                    continue
                example = asked.setting.example
                asked.build(**{name: example.get(name, 2) for name in asked.needed})
        except NotPosed as error:
            if error.argument != "numbers":  # irrational there, not elsewhere
                continue
        except InvalidInput as error:
            if error.argument == "statement":
                continue
        found[statement.identifier] = asked
    return found


@cache
def load() -> None:
    """Imports the modules that pose questions by hand."""
    import_module("fedconvex.proofs_checks.worst_cases.looseness.textbooks")
    import_module("fedconvex.proofs_checks.fedprox.worst_case_questions")


def _check_of_statement(statement: Statement, numbers: Mapping[str, Any]) -> None:
    """Refuses numbers that the statement excludes, also those that occur in its assumptions only."""
    notation = statement.paper.notation
    for name, value in numbers.items():
        if (name not in notation or notation[name].integer) and value.denominator != 1:
            raise InvalidInput(name, value, f"{statement.identifier} needs an integer", "give an integer")
    stated = (c for assumption in statement.assumptions for c in assumption.conditions)
    for condition in (
        *(c for name in numbers if name in notation for c in by_definition(name, notation[name])),
        *stated,
    ):
        if numbers.keys() >= {condition.argument, *condition.names}:
            offence = condition.check(condition.argument, dict(numbers))
            if offence is not None:
                raise refuse(statement.identifier, condition, offence, notation)


def _check_of_claim(setting: ClaimSetting, numbers: Mapping[str, Any]) -> None:
    """Refuses numbers outside of the setting's domain."""
    for name, value in numbers.items():
        sign = setting.signs.get(name, "real")
        if value is None:
            continue
        if name in setting.counts and (value.denominator != 1 or value < 1):
            raise InvalidInput(name, value, "is not a count", "give 1, 2, …")
        if (sign == "positive" and value <= 0) or (sign == "nonnegative" and value < 0):
            raise InvalidInput(name, value, f"is not {sign}", f"give a {sign} number")
    for left, relation, right in setting.conditions:
        try:
            kept = holds(number_at(left, numbers), relation, number_at(right, numbers))
        except InvalidInput:
            continue  # about numbers that do not matter here
        if kept is False:
            raise InvalidInput(written(left), number_at(left, numbers), f"is not {relation} {written(right)}",
                               "give numbers in the setting's domain")  # fmt: skip
