"""Tests of this folder may `import round_cases`."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
