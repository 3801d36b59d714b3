"""Tests of this folder may `import dynamic_runs` and `promises`."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
