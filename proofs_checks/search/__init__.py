"""The search for proofs. What it finds is data that the kernel decides on; nothing here is trusted.

All searches for theorems share their means. Functions of parameters are the kernel's (`kernel.scalars`), with more
operations in `scalars`, and as numbers for a method's code in `worst_cases.theorems.rational_functions`; their signs
are what the kernel's field shows. Linear equations are solved in `arithmetic.linear_systems`, forms become squares in
`quadratic_forms`, and by pivots whose signs are known in `prove`.

Closed forms come from what is known at samples: rational functions from exact values (`theorems.rational_fits`), sums
of powers from exact values for some numbers of steps (`step_theorems.closed_forms`), products of powers from numbers in
floats (`closed_forms`), or from bounds where a number is free (`rate_theorems.rates`).
"""

from fedconvex.proofs_checks.search.prove import prove as prove
from fedconvex.proofs_checks.search.prove import proved as proved
