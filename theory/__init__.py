"""What the papers promise: one module per paper, holding its statements and the calculators of their bounds.

Whether the promises hold is the matter of `fedconvex.proofs_checks`.
"""
