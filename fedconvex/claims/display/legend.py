"""What the symbols of a display mean, each one thing, and how the display says so."""

from collections.abc import Callable, Hashable
from dataclasses import dataclass, field, replace
from functools import cache

from fedconvex.claims.display.plain_text import from_latex
from fedconvex.symbols import IllFormed

Words = str | Callable[[], str]
Definition = Callable[["Legend"], str]  # the LaTeX of a meaning, whose own symbols the legend notes


@dataclass
class Legend:
    """The symbols that a display has used, by how they look in plain text, in which LaTeX may look alike."""

    meanings: dict[str, tuple[Hashable, Words]] = field(default_factory=dict)  # with the meaning in words
    formulas: dict[str, Hashable] = field(default_factory=dict)  # what looks like a symbol where one is written so
    definitions: dict[str, Definition] = field(default_factory=dict)  # of symbols, as LaTeX
    words: dict[str, str] = field(default_factory=dict)  # of vectors, by LaTeX
    slashes: bool = False  # whether definitions have fractions as a/b

    def symbol(self, latex: str, meaning: Hashable, said: Words) -> None:
        """Notes a symbol. Raises IllFormed where it means something else as well."""
        look = _look(latex)
        known, so = self.meanings.setdefault(look, (meaning, said))
        if known != meaning:
            raise _two_meanings(look, so, said)
        if self.formulas.get(look, meaning) != meaning:
            raise _two_meanings(look, said, "the formula that is written so")

    def formula(self, latex: str, meaning: Hashable) -> None:
        """Notes a formula such as a power, which looks like a symbol where there is one that is written so."""
        look = _look(latex)
        self.formulas.setdefault(look, meaning)
        if look in self.meanings and self.meanings[look][0] != meaning:
            raise _two_meanings(look, self.meanings[look][1], "the formula that is written so")

    def has_parameter(self, name: str) -> bool:
        """Whether the parameter of this name was used."""
        return ("parameter", None, name) in (meaning for meaning, _ in self.meanings.values())

    def where(self) -> list[str]:
        """What each symbol of a formula is, before those that its meaning needs; then the vectors, in words."""
        found: dict[str, str] = {}
        self._define(self.definitions, found)
        formulas = [f"{symbol} = {meaning}" for symbol, meaning in reversed(found.items())]
        return formulas + [rf"{symbol}\text{{ is {words}}}" for symbol, words in self.words.items()]

    def _define(self, definitions: dict[str, Definition], found: dict[str, str]) -> None:
        for symbol, meaning in reversed(definitions.items()):
            if symbol not in found:
                inside = replace(self, definitions={})
                text = meaning(inside)
                self._define({s: d for s, d in inside.definitions.items() if s != symbol}, found)
                if symbol.replace(" ", "") != text.replace(" ", ""):
                    found.setdefault(symbol, text)


_look = cache(from_latex)


def _two_meanings(look: str, *both: Words) -> IllFormed:
    one, other = (words if isinstance(words, str) else words() for words in both)
    return IllFormed("symbol", look, f"means two things in one display: {one}, and {other}", "give one another symbol")
