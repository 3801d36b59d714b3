"""`python -m fedconvex.proofs_checks.sentences > docs/sentences.md`."""

import sys

from fedconvex.proofs_checks.sentences.page import as_markdown

sys.stdout.write(as_markdown())
