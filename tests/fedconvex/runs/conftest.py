"""Tests of this folder may `import measured_by_hand`."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
