"""FedDyn: equations (2) to (6), (8), (9) and (11), and Lemmas 2 and 6."""

from fedconvex.claims.terms import family, mean, memory, minimiser, parameter
from fedconvex.proofs_checks.claims import proved_by_sum
from fedconvex.proofs_checks.kernel.proofs import Lower, Upper
from fedconvex.proofs_checks.library import by, interpolation, jensen
from fedconvex.theory import feddyn
from fedconvex.theory.feddyn.vectors import x, y, z

L, n = parameter("L"), parameter("count")
INVARIANTS = (("shared h", mean(memory("gradient", 0))),)

# The rounds' own algebra: both sides are the same vector.
proved_by_sum(feddyn.equation2, invariants=INVARIANTS)
proved_by_sum(feddyn.equation8, invariants=INVARIANTS)
proved_by_sum(feddyn.equation9, invariants=INVARIANTS)
proved_by_sum(feddyn.lemma2, invariants=INVARIANTS)

proved_by_sum(feddyn.equation3)

proved_by_sum(feddyn.equation4, by(Upper(y, x)))

proved_by_sum(feddyn.equation5, interpolation(x, minimiser, 0, L))

# (Strong) convexity between x and y, smoothness between x and z.
proved_by_sum(feddyn.equation6, by(Lower(y, x)) + by(Upper(z, x)))
proved_by_sum(feddyn.equation11, by(Lower(y, x)) + by(Upper(z, x)))

proved_by_sum(feddyn.lemma6, n**2 * jensen(family("v")))
