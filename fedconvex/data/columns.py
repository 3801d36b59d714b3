"""What a column of a table holds: numbers, dates, or texts, with decimal commas read and missing values found."""

import math
import re
import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import date, timedelta
from decimal import Decimal
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

if TYPE_CHECKING:
    import pandas

Content = Literal["numbers", "dates", "texts", "mixed", "missing", "other"]
DecimalMark = Literal[".", ","]

MISSING = frozenset({"", "na", "n/a", "#n/a", "nan", "null", "none", "?"})
MISSING_NUMBERS = frozenset({"-", "--", "."})  # missing among numbers; elsewhere - may be a class beside +
MOSTLY = 0.5  # from this part of numbers on, the other texts of a column are mistakes
NO_CODES = np.empty(0, dtype=np.int64)
BOOLEANS = {"true": 1.0, "false": 0.0}
THOUSANDS = {mark: re.compile(rf"[+-]?[1-9]\d{{0,2}}(?:{re.escape(mark)}\d{{3}})+") for mark in ".,"}
# by decimal mark: thousands are grouped with the other mark, if at all
NUMERAL: dict[DecimalMark, re.Pattern[str]] = {
    ",": re.compile(r"[+-]?(?:\d+|[1-9]\d{0,2}(?:\.\d{3})+)(?:,\d*)?(?:[eE][+-]?\d+)?|[+-]?,\d+(?:[eE][+-]?\d+)?"),
    ".": re.compile(r"[+-]?[1-9]\d{0,2}(?:,\d{3})+(?:\.\d*)?"),
}
SPACES = re.compile("[ '’\u00a0\u2009\u202f]")
SPACED = re.compile(rf"[+-]?[1-9]\d{{0,2}}(?:{SPACES.pattern}\d{{3}})+(?:[.,]\d*)?")
# a date has three parts, or a time of day behind it; pandas alone takes "5" and "may" for dates
DATE = re.compile(
    r"\d{1,4}[-/. ](?:\d{1,2}|[A-Za-z]{3,9})\.?[-/. ],?\d{1,4}(?:[T ,].*)?|[A-Za-z]{3,9}\.? \d{1,2},? \d{4}"
)
DATE_NAME = re.compile(r"date|datum|(?:^|_)day$|_at$|timestamp", re.IGNORECASE)
IDENTIFIER_NAME = re.compile(r"(?i:(?:^|[^a-z])(?:id|ids|uuid|guid|key|index|nr|no|code)$)|[a-z]I[dD]$")
IDENTIFIER_WORDS = re.compile(r"(?:^|[^a-zA-Z])(?:id|uuid|guid)(?:$|[^a-zA-Z])", re.IGNORECASE)


@dataclass(frozen=True, eq=False)
class Column:
    """One column: for every row the index of its text among the distinct `texts`, −1 where the value is missing.

    A column of numbers that a library has typed already holds `typed` instead, NaN where the value is missing.
    """

    name: str
    codes: np.ndarray  # int64 (n,), empty in typed columns
    texts: tuple[str, ...]
    decimal: DecimalMark = "."
    typed: np.ndarray | None = None  # float64 (n,)
    typed_dates: bool = False
    other: str = ""  # the type of what is neither number, text nor date
    blank: str = ""  # the text of the first missing value, in brackets
    kept_none: bool = False  # whether `none` among words is a category

    @cached_property
    def numbers(self) -> np.ndarray:
        """The distinct texts as numbers, NaN for texts that are none."""
        return np.array([as_number(text, self.decimal) for text in self.texts], dtype=np.float64)

    @cached_property
    def is_number(self) -> np.ndarray:
        """Which of the distinct texts are numbers, infinite ones included."""
        return np.asarray(~np.isnan(self.numbers))

    @cached_property
    def missing(self) -> np.ndarray:
        """In which rows the value is missing."""
        found: np.ndarray = self.codes < 0 if self.typed is None else np.isnan(self.typed)
        return found

    @cached_property
    def values(self) -> np.ndarray:
        """The numbers (n,), NaN where one is missing or is no number."""
        if self.typed is not None:
            return self.typed
        values: np.ndarray = np.append(self.numbers, np.nan)[self.codes]  # code −1 is the last
        return values

    @cached_property
    def content(self) -> Content:
        """What the column holds, missing values aside."""
        if self.other:
            return "other"
        if self.missing.all():
            return "missing"
        if self.typed_dates or self._has_dates_of_digits():
            return "dates"
        if self.typed is not None or self.is_number.all():
            return "numbers"
        if self.is_number.any():
            return "mixed"
        return "dates" if are_dates(self.texts) else "texts"

    @property
    def distinct(self) -> int:
        """The number of distinct values, missing ones aside."""
        if self.typed is not None:
            return int(np.unique(self.typed[~self.missing]).size)
        return len(self.texts)

    @property
    def present(self) -> int:
        """The number of values that are not missing."""
        return int(np.count_nonzero(~self.missing))

    @cached_property
    def is_identifier(self) -> bool:
        """Whether every row has another value, which names it: text, or whole numbers in a column called `id`."""
        if self.content == "texts" or (self.content == "mixed" and self.is_number.mean() < MOSTLY):
            return self.present > 2 and self.distinct == self.present
        if self.content != "numbers" or self.present < 10:  # few rows may differ by chance
            return False
        if not (IDENTIFIER_NAME.search(self.name) or IDENTIFIER_WORDS.search(self.name)):
            return False
        present = self.values[~self.missing]
        return bool(np.all(present == np.rint(present))) and np.unique(present).size == present.size

    def labels(self) -> np.ndarray:
        """The values as text (n,), "" where one is missing."""
        if self.typed is None:
            return np.asarray(np.array([*self.texts, ""], dtype=object)[self.codes])
        whole = bool(np.all(np.isnan(self.typed) | (self.typed == np.rint(self.typed))))
        shown = [("" if np.isnan(v) else str(int(v)) if whole else repr(v)) for v in self.typed.tolist()]
        return np.array(shown, dtype=object)

    def rows(self, kept: np.ndarray) -> "Column":
        """The column with only these rows; texts that no row has any more are left out."""
        if self.typed is not None or self.other:
            return replace(self, typed=None if self.typed is None else self.typed[kept])
        used, codes = np.unique(self.codes[kept], return_inverse=True)
        shift = int(used.size > 0 and used[0] < 0)
        return replace(self, codes=codes - shift, texts=tuple(self.texts[code] for code in used[shift:]))

    def _has_dates_of_digits(self) -> bool:
        """Dates such as 20240131 in a column whose name says that it holds dates."""
        if not DATE_NAME.search(self.name) or (self.typed is None and not self.is_number.all()):
            return False
        present = self.values[~self.missing]
        if not np.all((present == np.rint(present)) & (present >= 1e7) & (present < 1e8)):
            return False
        return _parsed_as_dates([f"{value:.0f}" for value in np.unique(present).tolist()], format="%Y%m%d")


def of_numbers(name: str, values: np.ndarray) -> Column:
    """The column with these numbers (n,), NaN where one is missing."""
    return Column(name, NO_CODES, (), typed=np.asarray(values, dtype=np.float64))


def of_texts(name: str, cells: Any, missing: frozenset[str] | None = None) -> Column:
    """The column with these cells; white space around them does not count, and None is missing.

    missing: in lower case, the words for missing values beside empty cells; default `MISSING`, of which `none` among
        words that are neither numbers nor dates is a category, as in none, mild, severe.
    """
    import pandas as pd

    codes, found = pd.factorize(np.asarray(cells, dtype=object))
    stripped = [text.strip() for text in map(str, found.tolist())]
    kept: dict[str, int] = {}
    for text in stripped:
        if text and text.lower() not in (MISSING if missing is None else missing):
            kept.setdefault(text, len(kept))
    if sentinels := {as_number(word) for word in missing or ()} - {np.nan}:  # −999 is also −999.0
        left = [text for text in kept if as_number(text) not in sentinels]
        kept = {text: i for i, text in enumerate(left)}
    words = missing is None and kept and not any(map(is_any_number, kept)) and not are_dates(tuple(kept))
    none = dict.fromkeys(text for text in stripped if text.lower() == "none") if words else {}
    kept |= {text: len(kept) + i for i, text in enumerate(none)}
    marks = MISSING_NUMBERS.intersection(kept)
    if marks and len(kept) > len(marks) and all(map(is_any_number, kept.keys() - marks)):
        kept = {text: i for i, text in enumerate(text for text in kept if text not in marks)}
    place = np.array([*(kept.get(text, -1) for text in stripped), -1], dtype=np.int64)[codes]
    blanks = np.flatnonzero((place < 0) & (codes >= 0))
    blank = f" ({stripped[codes[blanks[0]]]!r})" if blanks.size else ""
    return Column(name, place, tuple(kept), blank=blank, kept_none=bool(none))


def is_any_number(text: str) -> bool:
    """Whether the text is a number with one of the decimal marks."""
    return not all(math.isnan(as_number(text, mark)) for mark in NUMERAL)


def of_series(name: str, series: "pandas.Series[Any]", missing: frozenset[str] | None = None) -> Column:
    """The column with a pandas series' values; categories are their texts or numbers. missing: see `of_texts`."""
    import pandas as pd
    from pandas.api import types

    if isinstance(series.dtype, pd.CategoricalDtype):
        categories = series.cat.categories
        if types.is_string_dtype(categories.dtype):  # rows share one object of each text: a copy in each may not fit
            each = np.array([*categories, None], dtype=object)[series.cat.codes]
            series = pd.Series(each, dtype=object)
        else:
            series = series.astype(categories.dtype)
    kind, present = series.dtype, series.notna().to_numpy()
    if types.is_complex_dtype(kind):
        return Column(name, NO_CODES, (), other=str(kind))
    numeric = types.is_numeric_dtype(kind) or types.is_bool_dtype(kind)
    # as text where float64 would merge neighbours, which may be clients or labels
    long = types.is_integer_dtype(kind) and present.any() and not series.dropna().between(-(2**53), 2**53).all()
    if numeric and not long:
        values = series.to_numpy(dtype=np.float64, na_value=np.nan)
        sentinels = [as_number(word) for word in missing or ()]
        return of_numbers(name, np.where(np.isin(values, sentinels), np.nan, values))
    cells: list[Any] = [value if there else None for value, there in zip(series.tolist(), present, strict=True)]
    dated = False
    for i, cell in enumerate(cells):
        if cell is None or isinstance(cell, str):
            continue
        dated |= isinstance(cell, date | timedelta | pd.Period)  # pandas' own are subclasses of Python's
        if isinstance(cell, Fraction):
            cells[i] = float(cell)
        elif not isinstance(cell, date | timedelta | pd.Period | pd.Interval | int | float | Decimal | np.generic):
            return Column(name, NO_CODES, (), other=type(cell).__name__)
    return replace(of_texts(name, cells, missing), typed_dates=dated)


def as_number(text: str, decimal: DecimalMark = ".") -> float:
    """The number that the text is, true and false included; NaN for text that is none.

    With the decimal mark ".", commas may group thousands, and the other way round; spaces and apostrophes may anyway.
    """
    if "," not in text and (decimal == "." or "." not in text):  # most numbers: patterns take ten times as long
        try:
            return np.nan if "_" in text else float(text)  # float() would take 1_000
        except ValueError:
            pass
    if text.lower() in BOOLEANS:
        return BOOLEANS[text.lower()]
    text = ungrouped(text)
    if decimal == "," and ("," in text or "." in text):
        if NUMERAL[","].fullmatch(text) is None:
            return np.nan
        text = text.replace(".", "").replace(",", ".")
    elif "," in text:
        if NUMERAL["."].fullmatch(text) is None:
            return np.nan
        text = text.replace(",", "")
    try:
        return np.nan if "_" in text else float(text)
    except ValueError:
        return np.nan


def ungrouped(text: str) -> str:
    """A number without the spaces or apostrophes that group its thousands; any other text as it is."""
    return SPACES.sub("", text) if SPACED.fullmatch(text) else text


def decimal_marks(texts: Sequence[str]) -> tuple[set[DecimalMark], bool]:
    """The decimal marks that these texts show, and whether a text could be read with either.

    1,5 and 1.234,5 show a comma, 1.5 and 1,234.5 a point; 1,234 alone is 1.234 or 1234.
    """
    together = "\n".join(texts)
    if "," not in together:
        points = "." in together and any(map(_shows_point, texts))
        return ({"."} if points else set()), False
    shown: set[DecimalMark] = set()
    doubtful = False
    for text in map(ungrouped, texts):
        if "," not in text:
            if "." not in shown and _shows_point(text):
                shown.add(".")
        elif THOUSANDS[","].fullmatch(text):
            doubtful = True
        else:
            shown |= {mark for mark in NUMERAL if NUMERAL[mark].fullmatch(text)}
    return shown, doubtful


def _shows_point(text: str) -> bool:
    """Whether the text, without commas, is a number whose point can only be the decimal mark."""
    return "." in text and not THOUSANDS["."].fullmatch(ungrouped(text)) and not np.isnan(as_number(text))


def are_dates(texts: Sequence[str]) -> bool:
    """Whether all texts are dates, with or without a time of day."""
    return all(map(DATE.fullmatch, texts)) and _parsed_as_dates(texts, format="mixed", dayfirst="." in texts[0])


def _parsed_as_dates(texts: Sequence[str], **how: Any) -> bool:
    import pandas as pd

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of days and months in an order of their own
        try:
            parsed = pd.to_datetime(pd.Series(texts, dtype=object), errors="coerce", utc=True, **how)
        except (ValueError, TypeError, OverflowError):
            return False
    return bool(parsed.notna().all())
