"""What keeps a column from being a feature, or the target: findings, each with the option that cures it."""

import re
from collections.abc import Iterator
from decimal import Decimal, InvalidOperation

import numpy as np

from fedconvex.data.columns import Column
from fedconvex.data.findings import Finding, in_words
from fedconvex.data.table_source import TableSource
from fedconvex.data.targets import TOO_LONG_CURE, written_too_long

FEW = 10  # distinct texts of a column that is one-hot encoded without a request
MANY = 100  # distinct texts up to which one-hot encoding is suggested
FILL = "fill it in or remove the row"
UNIT = re.compile(r"[€$£¥] ?[-\d.,]+|[-\d.,]+ ?(?:[%€$£¥]|[a-zA-Zµ/]{1,5})")  # a number with a unit


def missing_value(column: Column, source: TableSource) -> str:
    """Where the first missing value is, and how many more there are."""
    count = int(np.count_nonzero(column.missing))
    more = f", and {count - 1} more" if count > 1 else ""
    return f"{source.place(int(np.argmax(column.missing)), column.name)}: the value is missing{column.blank}{more}"


def examined(column: Column, source: TableSource, encode: bool, impute: str | None) -> list[Finding]:
    """What the user must decide about a feature.

    encode: whether one-hot encoding was requested for it. impute: the way of imputing to suggest; None if one is given.
    """
    drop = {"drop": [column.name]}
    name = f"column {column.name!r}"
    if column.content == "other":
        return [Finding(f"{name}: holds {column.other}, not numbers", drop, "encode the column as numbers")]
    if column.content == "missing":
        return [Finding(f"{name}: every value is missing", drop)]
    if column.content == "dates" and not encode:
        return [Finding(f"{name}: holds dates, which are no numbers", drop)]
    if not encode:
        if column.name == "" and _are_row_numbers(column):
            problem = "the first column has no name and holds row numbers, which are no feature"
            cure = "write the file with to_csv(…, index=False), drop the column, or give it a name if it is a feature"
            return [Finding(problem, drop, cure)]
        if column.content == "texts" and all(map(UNIT.fullmatch, column.texts)):
            problem = f"{name}: holds numbers with units, such as {column.texts[0]!r}"
            return [Finding(problem, drop, "write the numbers alone")]
        if column.is_identifier:
            what = "whole number" if column.content == "numbers" else "text"
            problem = (
                f"{name}: has another {what} in each of {column.present:,} rows: an identifier, which is no feature"
            )
            return [Finding(problem, drop)]
        if finding := _not_numbers(column, source):
            return [finding]
    return list(_single_values(column, source, impute))


def _not_numbers(column: Column, source: TableSource) -> Finding | None:
    """A finding where texts are neither numbers nor few enough to be one-hot encoded without a request."""
    drop = {"drop": [column.name]}
    if column.content == "mixed":
        odd = np.flatnonzero((column.codes >= 0) & ~np.append(column.is_number, True)[column.codes])
        text = column.texts[column.codes[odd[0]]][:40]
        more = f" and {odd.size - 1:,} more" if odd.size > 1 else ""
        problem = f"{source.place(int(odd[0]), column.name)}: {text!r} is not a number{more}"
        return Finding(problem, drop, "encode the column as numbers")
    if column.content != "texts":
        return None
    if column.distinct == 1:
        return Finding(f"column {column.name!r}: holds the text {column.texts[0][:40]!r} in every row", drop)
    if 2 < column.distinct > column.present / 2:
        problem = (
            f"column {column.name!r}: {column.distinct:,} distinct texts in {column.present:,} rows are no classes"
        )
        return Finding(problem, drop)
    if column.distinct > FEW:
        cure = {"one_hot": [column.name]} if column.distinct <= MANY else drop
        other = f"give {in_words(drop, source.style)}" if column.distinct <= MANY else ""
        return Finding(f"column {column.name!r}: {column.distinct:,} distinct texts", cure, other)
    return None


def _single_values(column: Column, source: TableSource, impute: str | None) -> Iterator[Finding]:
    """Findings about values that are missing or infinite in an otherwise usable column."""
    if column.content == "numbers" and np.isinf(column.values).any():
        row = int(np.argmax(np.isinf(column.values)))
        shown = repr(column.texts[column.codes[row]][:40]) if column.typed is None else f"{column.values[row]}"
        problem = f"{source.place(row, column.name)}: {shown} is not finite"
        yield Finding(problem, {"drop": [column.name]}, FILL)
    elif column.content == "numbers" and _merged(column):
        problem = f"column {column.name!r}: numbers that differ are equal as floats, such as {column.texts[0][:40]}"
        yield Finding(problem, {"drop": [column.name]}, "subtract a constant")
    if impute is not None and column.missing.any():
        yield Finding(missing_value(column, source), {"impute": impute}, FILL)


def _merged(column: Column) -> bool:
    """Whether long integers that all differ became one float: the feature would be constant."""
    return len(column.texts) > 1 and np.unique(column.numbers).size == 1 and not _same_spellings(column)


def _same_spellings(column: Column) -> bool:
    """Whether the texts write one number, as 1, 1.0 and 01 do."""
    try:
        return len({Decimal(text) for text in column.texts}) == 1
    except InvalidOperation:  # grouped thousands, decimal commas, truth values
        return True


def examined_client(column: Column, source: TableSource) -> list[Finding]:
    """What is wrong with the client column, single missing values aside."""
    another = "name another client column"
    if column.content == "other":
        problem = f"holds {column.other}, so the clients' names are neither numbers nor texts"
        return [Finding(f"column {column.name!r}: {problem}", {}, another)]
    if column.content == "missing":
        return [Finding(f"column {column.name!r}: every value is missing", {}, another)]
    if column.typed is not None and np.isinf(column.typed).any():
        row = int(np.argmax(np.isinf(column.typed)))
        problem = f"{source.place(row, column.name)}: {column.typed[row]} is not finite"
        return [Finding(problem, {}, f"repair or remove the row, or {another}")]
    return []


def examined_target(column: Column, source: TableSource) -> list[Finding]:
    """What is wrong with the target, missing values aside; another target is the cure of most of it."""
    name = f"column {column.name!r}"
    another = "name another target column"
    if column.content in ("other", "missing", "dates"):
        what = {"missing": "every value is missing", "dates": "holds dates"}.get(
            column.content, f"holds {column.other}"
        )
        return [Finding(f"{name}: {what}, so the targets are neither numbers nor texts", {}, another)]
    if column.content == "mixed":
        odd = np.flatnonzero((column.codes >= 0) & ~np.append(column.is_number, True)[column.codes])
        problem = f"{source.place(int(odd[0]), column.name)}: text in a target column that has numbers elsewhere"
        return [Finding(problem, {}, "make the targets all numbers or all text")]
    if column.content == "numbers" and np.isinf(column.values).any():
        row = int(np.argmax(np.isinf(column.values)))
        shown = repr(column.texts[column.codes[row]][:40]) if column.typed is None else f"{column.values[row]}"
        return [Finding(f"{source.place(row, column.name)}: {shown} is not finite", {}, "repair or remove the row")]
    for code, text in enumerate(column.texts):
        if written_too_long(text):
            place = source.place(int(np.argmax(column.codes == code)), column.name)
            problem = f"{place}: {text[:40]} is beyond 2^53, where floats merge neighbours"
            return [Finding(problem, {}, TOO_LONG_CURE)]
    if column.content == "texts" and column.is_identifier and column.present > FEW:
        return [Finding(f"{name}: the target has another text in every row", {}, another)]
    return []


def _are_row_numbers(column: Column) -> bool:
    """Whether the numbers are distinct integers, as in an index column, of which rows may have been removed."""
    values = column.values
    return (
        column.content == "numbers"
        and bool(np.all(values == np.rint(values)))
        and np.unique(values).size == values.size
    )
