"""`prepare`: makes numbers of a table as it comes, or lists all that keeps it from that in one error.

pandas imputes and encodes. What the user must decide (which columns are features, what a missing value becomes) is a
`Finding` with the option that decides it; what needs no decision is done, and said in the notes.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from fedconvex.data.column_roles import check_names, find_roles
from fedconvex.data.columns import Column, DecimalMark, as_number, decimal_marks
from fedconvex.data.examination import FILL, examined, examined_client, examined_target, missing_value
from fedconvex.data.findings import Finding, untidy
from fedconvex.data.table import Table, check_size
from fedconvex.data.table_source import TableSource
from fedconvex.data.targets import as_targets
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

    @classmethod
    def of(
        cls, drop: Any, one_hot: Any, impute: Any, decimal: Any, standardize: bool = False, has_clients: bool = True
    ) -> "Preparation":
        """The preparation with these arguments of `load`, checked."""
        dropped, encoded = _names(drop, "drop"), _names(one_hot, "one_hot")
        if impute is not None and not is_choice(impute, IMPUTE):
            raise InvalidInput("impute", impute, "is not known", f"give {', '.join(IMPUTE[:-1])} or drop")
        if decimal is not None and not is_choice(decimal, (".", ",")):
            raise InvalidInput("decimal", decimal, "is no decimal mark", "give '.' or ','")
        if both := [name for name in dropped if name in encoded]:
            raise InvalidInput("one_hot", both[0], "is in drop as well", "name it in one of the two")
        return cls(dropped, encoded, impute, decimal, standardize, has_clients)

    @property
    def given(self) -> dict[str, Any]:
        """The options about columns that are given, by name."""
        named = {"drop": self.drop, "one_hot": self.one_hot, "impute": self.impute, "decimal": self.decimal}
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

    series = pd.Series(column.labels() if encoded else column.values).mask(column.missing)
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
    dummies = pd.get_dummies(pd.Categorical(series, categories=texts), drop_first=True, dtype=np.float64)
    notes.append(f"column {column.name!r}: one-hot encoded, {len(texts)} values; {texts[0][:40]!r} is the reference")
    return [f"{column.name}={text}" for text in texts[1:]], dummies.to_numpy()


def _by_number(text: str) -> tuple[float, str]:
    """A sort key: numbers by size (2 before 10), then texts."""
    number = as_number(text)
    return (np.inf if np.isnan(number) else number, text)


def _targets(column: Column) -> np.ndarray:
    if column.content == "numbers":
        return as_targets(column.values)
    return as_targets(column.labels().astype(str))


def _some(names: Sequence[str]) -> str:
    shown = ", ".join(repr(name) for name in names[:SHOWN])
    return shown if len(names) <= SHOWN else f"{shown} and {len(names) - SHOWN} more"
