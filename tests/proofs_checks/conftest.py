"""Tests of this folder may `import mutations`, and the makers of tests/theory."""

import sys
from pathlib import Path

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE), str(HERE.parent / "theory")]
