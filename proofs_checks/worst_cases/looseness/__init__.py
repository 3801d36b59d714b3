"""How loose the bounds of the papers are: each divided by the exact worst case."""
