"""Whether the FedProx paper's statements hold: one builder for each, in the order of the paper's appendix."""

from fedconvex.proofs_checks.fedprox import client as client
from fedconvex.proofs_checks.fedprox import descent as descent
from fedconvex.proofs_checks.fedprox import round as round
