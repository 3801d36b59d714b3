"""What the theorems are about, measured in a run: heterogeneity, curvatures, inexactness, the expected decrease.

All of it is NUMERIC: floating point, at the points where it was asked for, and nothing is claimed beyond them.
"""
