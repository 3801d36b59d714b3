"""Tests of this folder may `import data_checks`: with --import-mode=importlib, pytest adds no folder to the path."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
