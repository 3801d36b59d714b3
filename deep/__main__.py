"""`python -m fedconvex.deep …`, and with `torchrun -m fedconvex.deep …` in several processes: `fedconvex deep …`."""

import sys

from fedconvex.cli import main

sys.argv.insert(1, "deep")
main()
