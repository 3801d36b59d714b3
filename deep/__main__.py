"""`python -m fedconvex.deep …`, and with `torchrun -m fedconvex.deep …` in several processes: `fedconvex deep …`."""

import sys

from fedconvex.commands.main import main

if __name__ == "__main__":
    sys.argv.insert(1, "deep")
    main()
