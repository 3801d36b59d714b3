"""Tests of this folder may `import sgd_loops` and the makers beside it."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
