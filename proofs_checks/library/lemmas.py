"""Lemmas: claims with proofs that are no statement of a paper, such as the inequality of one round in a theorem."""

from dataclasses import dataclass, replace
from typing import final

from fedconvex.claims.claim import Claim, ClaimSetting
from fedconvex.claims.examples import example_of
from fedconvex.proofs_checks.kernel import Refused, Theorem, theorem
from fedconvex.proofs_checks.kernel.proofs import Derivation
from fedconvex.proofs_checks.library.inequalities import Parts, concluding


@final
@dataclass(frozen=True)
class Lemma:
    """A claim in a setting, and its proof; None for a proof that is still to be found (`proofs_checks.prove`)."""

    setting: ClaimSetting
    claim: Claim
    proof: Derivation | None = None

    def theorem(self) -> Theorem:
        """The kernel's word that it is proved. Raises Refused."""
        if self.proof is None:
            raise Refused("there is no proof")
        return theorem(self.setting, self.claim, self.proof)


def lemma(setting: ClaimSetting, claim: Claim, parts: Parts | None = None) -> Lemma:
    """A lemma with a proof of one line, the sum of its parts, or without proof. It finds example parameters itself."""
    proof = None if parts is None else Derivation((concluding(claim, parts),))
    return Lemma(setting if setting.example else with_example(setting), claim, proof)


def with_example(setting: ClaimSetting) -> ClaimSetting:
    """The setting with parameters in its domain."""
    return replace(setting, example=example_of(setting))
