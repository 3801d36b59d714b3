"""Whether what the papers assert in running text holds: a check for every sentence of `fedconvex.theory.sentences`.

    from fedconvex.proofs_checks.sentences import finding
    finding(sentences("fedsplit")[0]).verdict

A module for each paper, whose name may go on after an underscore.
"""

from fedconvex.proofs_checks.sentences.findings import SentenceFinding as SentenceFinding
from fedconvex.proofs_checks.sentences.findings import SentenceVerdict as SentenceVerdict
from fedconvex.proofs_checks.sentences.findings import finding as finding
