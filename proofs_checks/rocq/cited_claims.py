"""A cited theorem's claim in a case of this one: integers that are 1 here, and maxima that are decided here."""

from dataclasses import dataclass, field
from typing import Any, final

from fedconvex.claims.claim import ClaimSetting
from fedconvex.claims.terms import Number, number, with_parts
from fedconvex.proofs_checks.kernel.formulas import is_of_parameters
from fedconvex.proofs_checks.kernel.parameters import SettingParameters


def pinned(cited: ClaimSetting, here: ClaimSetting) -> frozenset[str]:
    """The numbers of clients and of drawn ones that are parameters of the cited theorem, and 1 here."""
    pairs = ((cited.draws.clients, here.draws.clients), (cited.draws.active, here.draws.active))
    names = (of.args[0] for of, own in pairs if of is not None and of.head == "parameter" and own == number(1))
    return frozenset(names)


@final
@dataclass
class InCase:
    """Reads terms of a cited theorem where `ones` are 1.

    `maxima`: those that `decided` has met, those inside others first, and whether each is its first number.
    """

    parameters: SettingParameters
    ones: frozenset[str]
    maxima: dict[Number, bool] = field(default_factory=dict)

    def said(self, of: Any) -> Any:
        """The term as the cited theorem has it."""
        if type(of) is Number and of.head == "parameter" and of.args[0] in self.ones:
            return number(1)
        return with_parts(of, self.said)

    def decided(self, of: Any) -> Any:
        """The term with the larger number in the place of every maximum of parameters."""
        of = with_parts(of, self.decided)
        if type(of) is Number and of.head == "max" and is_of_parameters(of):
            x, y = of.args
            value = self.parameters.value
            first = self.parameters.field.is_nonnegative(value(x) - value(y))
            if first or self.parameters.field.is_nonnegative(value(y) - value(x)):
                self.maxima.setdefault(of, first)
                return x if first else y
        return of
