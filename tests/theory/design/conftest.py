"""Tests of this folder may `import design_draws`."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
