"""Tests of this folder may `import statement_makers`, and the makers of tests/fedconvex."""

import sys
from pathlib import Path

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE), str(HERE.parent / "fedconvex")]
