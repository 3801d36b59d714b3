"""`python -m fedconvex.deep …` is `fedconvex deep …`; `torchrun -m fedconvex.deep …` runs it in several processes."""

import sys

from fedconvex.commands.main import main

if __name__ == "__main__":
    sys.argv.insert(1, "deep")
    main()
