"""Lemmas: claims with proofs that are no statement of a paper, such as the inequality of one round in a theorem."""

from dataclasses import dataclass, replace
from typing import final

from fedconvex.claims.claim import Claim, ClaimSetting
from fedconvex.claims.examples import example_of
from fedconvex.proofs_checks.kernel import Theorem, theorem
from fedconvex.proofs_checks.kernel.proofs import Derivation, Earlier
from fedconvex.proofs_checks.library.inequalities import Parts, by


@final
@dataclass(frozen=True)
class Lemma:
    """A claim in a setting, and its proof."""

    setting: ClaimSetting
    claim: Claim
    proof: Derivation

    def theorem(self) -> Theorem:
        """The kernel's word that it is proved. Raises Refused."""
        return theorem(self.setting, self.claim, self.proof)


def with_example(setting: ClaimSetting) -> ClaimSetting:
    """The setting with parameters in its domain."""
    return replace(setting, example=example_of(setting))


def cited(line: str) -> Parts:
    """An earlier line."""
    return by(Earlier(line))
