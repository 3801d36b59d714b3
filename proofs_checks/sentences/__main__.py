"""`python -m fedconvex.proofs_checks.sentences` prints the guide's page of sentences."""

import sys

from fedconvex.proofs_checks.sentences.page import as_markdown

sys.stdout.write(as_markdown())
