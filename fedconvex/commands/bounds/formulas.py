"""The formulas that `fedconvex bounds` can compute, found by their identifiers: statements and calculators."""

from collections.abc import Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cached_property
from inspect import cleandoc, isfunction
from pathlib import Path
from typing import Any, final

from fedconvex.errors import InvalidInput
from fedconvex.statements import Calculator, Paper, Parameter, Statement
from fedconvex.statements.results import named_parts


@final
@dataclass(frozen=True)
class Computable:
    """A formula of a paper: a statement's, or a calculator without a number of its own."""

    identifier: str
    source: str
    calculator: Calculator
    paper: Paper
    statement: Statement | None = None

    @property
    def claim(self) -> str:
        """The kind of claim: `upper bound`, …, or `calculator`."""
        return self.statement.claim_type.value if self.statement is not None else "calculator"

    @property
    def words(self) -> str:
        """The first paragraph of the calculator's docstring."""
        return " ".join(cleandoc(self.calculator.__doc__ or "").partition("\n\n")[0].split())

    @property
    def phrases(self) -> dict[str, str | None]:
        """What the recorded verdict says of the printed words, and what holds; None for a calculator without number."""
        said = self.statement.phrases if self.statement is not None else None
        return {"as_printed": said and said.as_printed, "holds": said and said.holds}

    @property
    def left(self) -> Calculator | None:
        """The left-hand side, if it is a formula, too."""
        return self.statement.left if self.statement is not None else None

    @property
    def positive(self) -> bool:
        """Whether the statement promises something only if its value is positive."""
        return self.statement is not None and self.statement.positive

    @cached_property
    def parameters(self) -> Mapping[str, Parameter]:
        """The parameters of both sides."""
        return {**self.calculator.parameters, **(self.left.parameters if self.left is not None else {})}

    @property
    def text(self) -> str:
        """The formula and its options, for a terminal."""
        from fedconvex.claims.display.statements import formulas_of
        from fedconvex.statements.rendering import labelled_option, text

        if self.statement is not None:
            return text(self.statement)
        shown = formulas_of(self.calculator, self.paper.letters, plain=True)
        kind = self.calculator.formula.__annotations__["return"]
        several = kind(*shown.formulas) if hasattr(kind, "_fields") else shown.formulas
        values = named_parts(self.calculator.name, several if len(several) > 1 else several[0])
        lines = [f"{self.identifier}  ({self.source}; {self.claim})", f"  {self.words}"]
        lines += [f"  {name} = {value}" for name, value in values.items()]
        lines += [f"  where {meaning}" for meaning in shown.where]
        lines += [f"  needs {c.text(self.calculator.parameters)}" for c in self.calculator.conditions]
        lines += [f"  {labelled_option(name, p)}: {p.meaning} ({p.range})" for name, p in self.parameters.items()]
        return "\n".join(lines)

    @property
    def latex(self) -> str:
        """The formula as LaTeX, with the paper's symbols and what they mean."""
        from fedconvex.claims.display.statements import displayed, formulas_of

        if self.statement is not None:
            return displayed(self.statement).complete
        return formulas_of(self.calculator, self.paper.letters).complete

    def to_dictionary(self) -> dict[str, Any]:
        """The formula's description for JSON."""
        return {
            "statement": self.identifier,
            "source": self.source,
            "claim": self.claim,
            "words": self.words,
            **self.phrases,
            "latex": self.latex,
            "parameters": {n: {"meaning": p.meaning, "range": p.range} for n, p in self.parameters.items()},
        }


def entries(paper: Paper) -> list[Computable]:
    """A paper's statements in its order, then its other calculators."""
    statements = [Computable(s.identifier, s.source, s.calculator, paper, s) for s in paper.everything]
    return statements + [entry for name, entry in _attributes(paper).items() if entry.statement is None]


def find(identifier: str) -> Computable:
    """The formula with this identifier: `fedprox.theorem4` or `fedprox.rho`. Errors suggest the nearest ones."""
    from fedconvex.theory import papers

    by_paper = papers()
    name, _, own = identifier.strip().partition(".")
    paper = by_paper.get(name.lower())
    if paper is not None:
        attributes = _attributes(paper)
        if own in attributes:
            return attributes[own]
        statement = (paper.statements | paper.ours).get(own.lower())
        if statement is not None:
            return Computable(statement.identifier, statement.source, statement.calculator, paper, statement)
        # a public function that computes, but is no formula: say how to call it
        function = vars(_module(paper)).get(own)
        if isfunction(function) and function.__module__.startswith("fedconvex.theory."):
            cure = f"call fedconvex.theory.{paper.name}.{own} in Python"
            raise InvalidInput("statement", identifier, "is a function and no formula", cure)
    known = [f"{p.name}.{key}" for p in by_paper.values() for key in (*p.statements, *p.ours, *_attributes(p))]
    near = get_close_matches(identifier, known, n=3, cutoff=0.5) or sorted(by_paper)
    raise InvalidInput("statement", identifier, "is unknown", f"did you mean {', '.join(near)}?")


def without_file(name: str) -> str:
    """`mypaper.theorem1` for ./mypaper.py:theorem1 and `mypaper` for ./mypaper.py, whose file is run; else the name."""
    from fedconvex.theory import paper_in

    file, separator, own = name.strip().rpartition(":")
    if separator and file.endswith(".py"):
        return f"{paper_in(Path(file)).name}.{own}"
    return paper_in(Path(name.strip())).name if name.strip().endswith(".py") else name


def _module(paper: Paper) -> Any:
    from fedconvex.theory import module_of

    return module_of(paper.name)


def _attributes(paper: Paper) -> dict[str, Computable]:
    """Statements and calculators by their names in the paper's module."""
    found = {}
    for name, value in vars(_module(paper)).items():
        if isinstance(value, Statement):
            found[name] = Computable(value.identifier, value.source, value.calculator, paper, value)
        elif isinstance(value, Calculator):
            source = f"{paper.short}, {value.owner.partition(': ')[2]}"
            found[name] = Computable(f"{paper.name}.{name}", source, value, paper)
    return found


def option(name: str) -> str:
    """`--L-minus` of `L_minus`."""
    return f"--{name.replace('_', '-')}"
