"""Tests of this folder, and the worker processes that they start, may `import sweep_makers`."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
