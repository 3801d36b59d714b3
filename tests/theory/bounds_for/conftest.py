"""Tests of this folder may `import diagonal_problems`."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
