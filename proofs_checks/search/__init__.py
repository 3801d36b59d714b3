"""The search for proofs. What it finds is data that the kernel decides on; nothing here is trusted."""

from fedconvex.proofs_checks.search.prove import prove as prove
from fedconvex.proofs_checks.search.prove import proved as proved
