"""Tests of this folder may `import plain_methods`."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
