"""Values of the exponential function in proofs: a parameter for each, with exp(x) > 0 and exp(x) >= 1 + x."""

from collections.abc import Iterable
from typing import Any, final

from fedconvex.claims.terms import Number, parameter, parts, without_names
from fedconvex.proofs_checks.kernel.parameters import SettingParameters
from fedconvex.proofs_checks.rocq.terms import Missing, Writer


@final
class Exponentials:
    """The parameters that stand for exp(x), and every x of theirs as it is written somewhere."""

    def __init__(self) -> None:
        self.exponents: dict[str, list[Number]] = {}

    @property
    def names(self) -> set[str]:
        """Of the parameters."""
        return set(self.exponents)

    def named(self, exponent: Number, parameters: SettingParameters) -> Number:
        """The parameter for exp(x), one for all x of the same value."""
        exponent = without_names(exponent)
        value = parameters.value(exponent)
        for name, known in self.exponents.items():
            if parameters.value(known[0]) == value:
                if exponent not in known:
                    known.append(exponent)
                return parameter(name)
        name = f"exp_{len(self.exponents) + 1}"
        if name in parameters.setting.signs:
            raise Missing(f"a parameter called {name}")
        self.exponents[name] = [exponent]
        return parameter(name)

    def are_in(self, of: Number) -> bool:
        """Whether the formula has such a parameter."""
        return any(part.head == "parameter" and part.args[0] in self.exponents for part in parts(of))

    def put_back(self, of: Number) -> Number:
        """The formula with exp(x) in the place of its parameters."""
        for name, (exponent, *_) in self.exponents.items():
            of = of.put(parameter(name), exponent.exp())
        return of

    def known(self, of: set[str]) -> list[tuple[Number, str, Number]]:
        """What is known of these parameters, as conditions of a setting."""
        return [(parameter(name), ">=", 1 + exponent) for name, (exponent, *_) in self.exponents.items() if name in of]

    def introduced(self, writer: Writer) -> list[str]:
        """Tactics that name the values, with what is known of them."""
        lines = []
        for name, (exponent, *_) in self.exponents.items():
            x = writer.factor(exponent)
            lines += [
                f"destruct (a_name (exp {x})) as ({name} & {name}_is).",
                f"assert ({name}_sign : 0 < {name}) by (rewrite <- {name}_is; apply exp_pos).",
                f"assert ({name}_least : {writer.number(1 + exponent)} <= {name})",
                f"  by (rewrite <- {name}_is; apply exp_ineq1_le).",
            ]
        return lines

    def rewriting(self, of: Iterable[Any], writer: Writer, identity: str) -> list[str]:
        """Tactics that write these terms' values in the goal by their names."""
        lines = []
        in_terms = {without_names(part.args[0]) for term in of for part in parts(term) if part.head == "exp"}
        for name, (_, *others) in self.exponents.items():
            for x in others:
                if x in in_terms:
                    lines.append(f"replace (exp {writer.factor(x)}) with {name}")
                    lines.append(f"  by (rewrite <- {name}_is; f_equal; {identity}).")
            lines.append(f"rewrite ?{name}_is.")
        return lines
