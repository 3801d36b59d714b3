r"""A second route to the value of displayed LaTeX: symbols, \frac, \sqrt, \max, \log, e^x, ⌈x⌉, brackets, precedence.

It is written from the reader's side, without any code of the display: products by juxtaposition, sums, superscripts,
and the longest symbol first.
"""

import math
from collections.abc import Mapping
from fractions import Fraction
from typing import Any

OPENING = {r"\left(": r"\right)", "(": ")", r"\left|": r"\right|", r"\left\lceil": r"\right\rceil"}


def evaluated(latex: str, symbols: Mapping[str, Any]) -> Any:
    """The value of a formula at these values of its symbols. Raises ValueError where it cannot be read."""
    reader = _Reader(latex, {name: symbols[name] for name in sorted(symbols, key=len, reverse=True)})
    value = reader.sum()
    if reader.rest:
        raise ValueError(f"left over: {reader.rest}")
    return value


class _Reader:
    def __init__(self, text: str, symbols: Mapping[str, Any]) -> None:
        self.rest, self.symbols = text.strip(), symbols

    def sum(self) -> Any:
        sign = -1 if self._take("-") else 1
        value = sign * self.product()
        while self.rest[:1] in ("+", "-") and self.rest:
            sign = 1 if self._take("+") else -(self._take("-") and 1)
            value = value + sign * self.product()
        return value

    def product(self) -> Any:
        value = self.power()
        while True:
            if self._take("/"):
                value = value / self.power()
            elif self._take(r"\cdot") or (self.rest and not self._ends()):
                value = value * self.power()
            else:
                return value

    def power(self) -> Any:
        base = self.atom()
        if not self._take("^"):
            return base
        exponent = self.braced() if self.rest.startswith("{") else self._digit_or_symbol()
        return base ** (int(exponent) if exponent == int(exponent) else exponent)

    def atom(self) -> Any:
        for symbol, value in self.symbols.items():
            if self.rest.startswith(symbol) and not self._goes_on(symbol):
                self._skip(len(symbol))
                return value
        if self._take(r"\frac"):
            above = self.braced()
            return above / self.braced()
        if self._take(r"\sqrt"):
            return math.sqrt(self.braced())
        for name, function in ((r"\max", max), (r"\min", min)):
            if self._take(name):
                return function(*self._arguments())
        if self._take(r"\log"):
            (inside,) = self._arguments()
            return math.log(inside)
        if self._take("e^"):
            return math.exp(self.braced() if self.rest.startswith("{") else self._digit_or_symbol())
        for opening, closing in OPENING.items():
            if self._take(opening):
                value = self.sum()
                self._need(closing)
                return abs(value) if "|" in opening else math.ceil(value) if "ceil" in opening else value
        digits = len(self.rest) - len(self.rest.lstrip("0123456789"))
        if not digits:
            raise ValueError(f"unreadable: {self.rest[:60]!r}")
        number = Fraction(self.rest[:digits])
        self._skip(digits)
        return number

    def braced(self) -> Any:
        self._need("{")
        value = self.sum()
        self._need("}")
        return value

    def _arguments(self) -> list[Any]:
        closing = r"\right)" if self._take(r"\left(") else ")"
        if closing == ")":
            self._need("(")
        found = [self.sum()]
        while self._take(","):
            found.append(self.sum())
        self._need(closing)
        return found

    def _digit_or_symbol(self) -> Any:
        for symbol, value in self.symbols.items():
            if self.rest.startswith(symbol) and len(symbol) == 1:
                self._skip(1)
                return value
        digit = Fraction(self.rest[0])
        self._skip(1)
        return digit

    def _goes_on(self, symbol: str) -> bool:
        r"""Whether a command such as \mu is only the beginning of another one."""
        after = self.rest[len(symbol) : len(symbol) + 1]
        return symbol[-1].isalpha() and "\\" in symbol and after.isalpha()

    def _ends(self) -> bool:
        return self.rest[0] in "+-})," or self.rest.startswith((r"\right", "|"))

    def _take(self, text: str) -> bool:
        found = self.rest.startswith(text)
        if found:
            self._skip(len(text))
        return found

    def _need(self, text: str) -> None:
        if not self._take(text):
            raise ValueError(f"{text} is missing before {self.rest[:60]!r}")

    def _skip(self, length: int) -> None:
        self.rest = self.rest[length:].lstrip()
