"""The kernel: the only code whose word decides that a claim is proved.

`replay.theorem` takes a setting, a claim and a proof, all plain data, makes its own `board` of the method's round, and
replays the proof's lines with exact algebra (`scalars`, `vectors`).
"""

from fedconvex.proofs_checks.kernel.facts import Theorem as Theorem
from fedconvex.proofs_checks.kernel.replay import Library as Library
from fedconvex.proofs_checks.kernel.replay import theorem as theorem
from fedconvex.proofs_checks.kernel.scalars import Refused as Refused
