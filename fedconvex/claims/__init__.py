"""The claim language: what a statement says about a method's rounds, as data.

A claim is written once, as a relation between two terms, and from it come its display (`display`), its check on a run
(`on_runs`), and the goal of its proof (`fedconvex.proofs_checks.kernel`). `terms` has the vocabulary, `claim` claims
and settings, `settings` reads a setting off a statement's assumptions.
"""

from fedconvex.claims.claim import Claim as Claim
from fedconvex.claims.claim import ClaimSetting as ClaimSetting
from fedconvex.claims.claim import DrawScheme as DrawScheme
from fedconvex.claims.claim import at_most as at_most
from fedconvex.claims.claim import equal as equal
from fedconvex.claims.terms import Number as Number
from fedconvex.claims.terms import Vector as Vector
