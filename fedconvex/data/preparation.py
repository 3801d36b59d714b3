"""`prepare`: makes numbers of a table as it comes, or lists all that keeps it from that in one error.

pandas imputes and encodes. What the user must decide (which columns are features, what a missing value becomes) is a
`Finding` with the option that decides it; what needs no decision is done, and said in the notes.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal, InvalidOperation
from typing import Any, Literal

import numpy as np

from fedconvex.data.column_roles import check_names, find_roles
from fedconvex.data.columns import Column, DecimalMark, as_number, decimal_marks
from fedconvex.data.findings import Finding, TableSource, in_words, untidy
from fedconvex.data.table import Table, check_size
from fedconvex.data.targets import TOO_LONG_CURE, as_targets, written_too_long
from fedconvex.errors import InvalidInput
from fedconvex.validation import is_choice, members_of

Impute = Literal["median", "mean", "most_frequent", "drop"]
IMPUTE: tuple[Impute, ...] = ("median", "mean", "most_frequent", "drop")
SPREAD, OFFSET = 3.0, 2.0  # how far standard deviations are from 1, and means from 0, where scaling hardly matters
SHOWN = 5  # names in a note


@dataclass(frozen=True)
class Preparation:
    """What the user decides about a table's columns; see `fedconvex.data.load`."""

    drop: tuple[str, ...] = ()
    one_hot: tuple[str, ...] = ()
    impute: Impute | None = None
    decimal: DecimalMark | None = None
    standardize: bool = False  # prepared or not, scaling is the caller's; with it, it is not suggested again
    has_clients: bool = True  # False: the table itself must say which client has which row
    missing: frozenset[str] | None = None  # words for missing values, in lower case; None: the usual ones
    categories: tuple[str, ...] = ()  # columns in which every word is a category

    @classmethod
    def of(
        cls,
        drop: Any,
        one_hot: Any,
        impute: Any,
        decimal: Any,
        standardize: bool = False,
        has_clients: bool = True,
        missing: Any = None,
        categories: Any = (),
    ) -> "Preparation":
        """The preparation with these arguments of `load`, checked."""
        named = _names(categories, "categories")
        dropped, encoded = _names(drop, "drop"), tuple(dict.fromkeys([*_names(one_hot, "one_hot"), *named]))
        words = missing.split(",") if isinstance(missing, str) else missing
        tokens = None if words is None else frozenset(w.strip().lower() for w in _names(words, "missing"))
        if impute is not None and not is_choice(impute, IMPUTE):
            raise InvalidInput("impute", impute, "is not known", f"give {', '.join(IMPUTE[:-1])} or drop")
        if decimal is not None and not is_choice(decimal, (".", ",")):
            raise InvalidInput("decimal", decimal, "is no decimal mark", "give '.' or ','")
        if both := [name for name in dropped if name in encoded]:
            raise InvalidInput("one_hot", both[0], "is in drop as well", "name it in one of the two")
        return cls(dropped, encoded, impute, decimal, standardize, has_clients, tokens, named)

    def missing_in(self, column: str) -> frozenset[str] | None:
        """The words for missing values in a column, beside empty cells; None: the usual ones."""
        return frozenset() if column in self.categories else self.missing

    @property
    def given(self) -> dict[str, Any]:
        """The options about columns that are given, by name."""
        named = {"drop": self.drop, "one_hot": self.one_hot, "impute": self.impute, "decimal": self.decimal,
                 "missing": self.missing, "categories": self.categories}  # fmt: skip
        return {name: value for name, value in named.items() if value}


def prepare(
    columns: Sequence[Column],
    source: TableSource,
    target_column: str | None,
    client_column: str | None,
    options: Preparation,
    findings: Sequence[Finding] = (),
) -> Table:
    """The table with numbers only. Raises UntidyTable, with all findings, where the user must decide something.

    findings: what has been found while the columns were read.
    """
    notes: list[str] = []
    columns, doubts = with_decimal_marks(columns, options)
    place, found = find_roles(columns, source, target_column, client_column, options.drop, options.has_clients)
    found = [*findings, *found]
    check_names(columns, place, options.drop, options.one_hot, source)
    chosen = [columns[j] for j in place.features if columns[j].name not in options.drop]
    if not chosen:
        raise InvalidInput("drop", list(options.drop), "leaves no feature", "drop fewer columns")
    target = columns[place.target]
    for column in (*chosen, target):
        if column.name in doubts:
            found.append(doubts[column.name])
    if commas := [column.name for column in (*chosen, target) if _has_decimal_commas(column)]:
        notes.append(f"decimal commas are read in {_some(commas)}")
    client = None if place.client is None else columns[place.client]
    for column in (*chosen, target, *(() if client is None else (client,))):
        if column.kept_none:
            cure = in_words({"missing": "none"}, source.style)
            notes.append(f"column {column.name!r}: 'none' is a category; give {cure} if it is a missing value")
    kept = _rows_kept(chosen, target, client, source, options, found, notes)
    if not kept.all():
        source = replace(source, numbers=source.numbers[kept])
        chosen, target = [column.rows(kept) for column in chosen], target.rows(kept)
        client = None if client is None else client.rows(kept)
    suggested = None if options.impute else way_of_imputing(chosen)
    for column in chosen:
        found += examined(column, source, column.name in options.one_hot, suggested)
    found += examined_target(target, source)
    dropped = {name for finding in found for name in finding.options.get("drop", ())}
    if dropped >= {column.name for column in chosen}:
        found.append(Finding("no feature would be left", {}, "repair some of the columns instead of dropping them"))
    if found:
        raise untidy(source.argument, source.value, found + _scaling(chosen, options), source.style)
    check_size(source.value, len(source.numbers), _width(chosen, options))
    parts = [_numbers(column, options, notes) for column in chosen]
    names = [name for part, _ in parts for name in part]
    if not names:
        raise InvalidInput(source.argument, source.value, "has no feature that varies", "give at least one")
    if len(set(names)) < len(names):
        twice = next(name for i, name in enumerate(names) if name in names[:i])
        raise InvalidInput(source.argument, source.value, f"has two columns {twice!r} once encoded", "rename one")
    features = np.hstack([values for _, values in parts])
    clients = None if client is None else tuple(client.labels().tolist())
    client_name = "client" if client is None else client.name
    return Table(features, tuple(names), _targets(target), clients, target.name, client_name, tuple(notes))


def with_decimal_marks(columns: Sequence[Column], options: Preparation) -> tuple[list[Column], dict[str, Finding]]:
    """The columns with the decimal mark that their texts, or else the other columns' texts, show; doubts by name."""
    shown = [decimal_marks(column.texts) for column in columns]
    together: set[DecimalMark] = set().union(*(marks for marks, _ in shown))
    usual: DecimalMark = "," if together == {","} else "."
    marked: list[Column] = []
    doubts: dict[str, Finding] = {}
    for column, (marks, doubtful) in zip(columns, shown, strict=True):
        mark = next(iter(marks)) if len(marks) == 1 else usual
        if not marks and options.decimal is not None:
            mark = options.decimal
        elif doubtful and not marks and len(together) != 1:
            text = next(text for text in column.texts if "," in text)
            readings = f"{text.replace(',', '.')} or {text.replace(',', '')}"
            problem = f"column {column.name!r}: {text!r} may be {readings}"
            cure = "give decimal '.' if the commas group thousands"
            doubts[column.name] = Finding(problem, {"decimal": ","}, cure)
        marked.append(replace(column, decimal=mark))
    return marked, doubts


def _has_decimal_commas(column: Column) -> bool:
    return column.decimal == "," and column.content == "numbers" and any("," in text for text in column.texts)


def _names(values: Any, argument: str) -> tuple[str, ...]:
    given = [values] if isinstance(values, str) else members_of(values, argument, "give a list of columns' names")
    for name in given:
        if not isinstance(name, str):
            raise InvalidInput(argument, name, "is not the name of a column", "give texts")
    return tuple(given)


def way_of_imputing(columns: Sequence[Column]) -> Impute:
    """What to suggest: the median where numbers are missing, the most frequent text where only texts are."""
    gaps = {column.content for column in columns if column.missing.any()} - {"missing", "dates", "other"}
    return "median" if "numbers" in gaps else "most_frequent" if gaps else "drop"


def _rows_kept(
    features: Sequence[Column],
    target: Column,
    client: Column | None,
    source: TableSource,
    options: Preparation,
    found: list[Finding],
    notes: list[str],
) -> np.ndarray:
    """Which rows stay: those without target or client cannot be imputed, and go with any way of imputing."""
    kept = np.ones(len(source.numbers), dtype=bool)
    for column in (target, client):
        if column is not None and column.missing.any() and not column.missing.all():
            kept &= ~column.missing
            if options.impute is None:
                suggested: dict[str, Any] = {"impute": way_of_imputing(features)}
                found.append(Finding(missing_value(column, source), suggested, FILL))
    if client is not None:
        found += examined_client(client, source)
    if options.impute is None:
        return np.ones(kept.size, dtype=bool)  # there are findings if rows would go
    if options.impute == "drop":
        for column in features:
            if not column.missing.all():
                kept &= ~column.missing
    if not kept.any():
        raise InvalidInput("impute", options.impute, "leaves no row", "drop the columns with the fewest values")
    if not kept.all():
        notes.append(f"left out for missing values: {np.count_nonzero(~kept):,} of {kept.size:,} rows")
    return kept


def _scaling(columns: Sequence[Column], options: Preparation) -> list[Finding]:
    """The advice to standardise, where the features' scales are not those of standardised ones.

    Alone it is no reason to refuse a table: the audit says what the scales cost.
    """
    moments = {} if options.standardize else _moments(columns)
    if all(1 / SPREAD <= spread <= SPREAD and abs(mean) <= OFFSET * spread for mean, spread in moments.values()):
        return []
    ends = {choose(moments, key=lambda name: moments[name][1]): None for choose in (min, max)}
    shown = " to ".join(f"{moments[name][0]:.3g} ± {moments[name][1]:.3g} ({name!r})" for name in ends)
    problem = f"the features' means ± standard deviations are {shown}: methods converge fastest on equal scales"
    return [Finding(problem, {"standardize": True})]


def _moments(columns: Sequence[Column]) -> dict[str, tuple[float, float]]:
    """Means and standard deviations of the features that vary and are likely to stay, by name."""
    found = {}
    for column in columns:
        if column.content == "numbers" and not column.is_identifier:
            with np.errstate(over="ignore", invalid="ignore"):
                present = column.values[~column.missing]
                mean, deviation = float(present.mean()), float(present.std())
            if np.isfinite(deviation) and deviation > 0:
                found[column.name] = mean, deviation
    return found


def _is_encoded(column: Column, options: Preparation) -> bool:
    return column.content != "numbers" or column.name in options.one_hot


def _width(columns: Sequence[Column], options: Preparation) -> int:
    return sum(max(1, c.distinct - 1) if _is_encoded(c, options) else 1 for c in columns)


def _numbers(column: Column, options: Preparation, notes: list[str]) -> tuple[list[str], np.ndarray]:
    """The feature's name and values, or those of the columns that encode it, without missing values."""
    encoded = _is_encoded(column, options)
    if not encoded and not column.missing.any():
        return [column.name], column.values.reshape(-1, 1)
    import pandas as pd

    cells = column.labels() if encoded else column.values
    series = pd.Series(cells, dtype=cells.dtype).mask(column.missing)  # as objects, rows share their texts
    if column.missing.any():
        frequent = encoded or options.impute == "most_frequent"
        with np.errstate(over="ignore", invalid="ignore"):
            if frequent:
                fill = series.mode().iloc[0]
            else:
                fill = series.median() if options.impute == "median" else series.mean()
        if not encoded and not np.isfinite(fill):
            raise InvalidInput("impute", options.impute, f"overflows in column {column.name!r}", "rescale the column")
        series = series.fillna(fill)
        what = "most frequent value" if frequent else str(options.impute)
        shown = repr(fill) if encoded else f"{fill:.6g}"
        count = np.count_nonzero(column.missing)
        values = "value is" if count == 1 else "values are"
        notes.append(f"column {column.name!r}: {count:,} missing {values} filled in with the {what}, {shown}")
    if not encoded:
        return [column.name], series.to_numpy(dtype=np.float64).reshape(-1, 1)
    texts = sorted(series.unique(), key=_by_number)
    # without the first, which the intercept stands for: all together they would be collinear with it
    place = {text: i for i, text in enumerate(texts)}
    codes = np.array([place[text] for text in series])
    notes.append(f"column {column.name!r}: one-hot encoded, {len(texts)} values; {texts[0][:40]!r} is the reference")
    return [f"{column.name}={text}" for text in texts[1:]], (codes[:, None] == np.arange(1, len(texts))) * 1.0


def _by_number(text: str) -> tuple[float, str]:
    """A sort key: numbers by size (2 before 10), then texts."""
    number = as_number(text)
    return (np.inf if np.isnan(number) else number, text)


def _targets(column: Column) -> np.ndarray:
    if column.content == "numbers":
        return as_targets(column.values)
    return as_targets(column.labels())


def _some(names: Sequence[str]) -> str:
    shown = ", ".join(repr(name) for name in names[:SHOWN])
    return shown if len(names) <= SHOWN else f"{shown} and {len(names) - SHOWN} more"


# What keeps a column from being a feature, or the target: findings, each with the option that cures it.

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
