"""Measurements of the theorems' constants in a run: heterogeneity, curvatures, inexactness, expected decrease.

All of them are NUMERIC: floating-point numbers at single points, which bound nothing anywhere else.
"""
