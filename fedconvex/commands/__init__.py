"""The command line, one module a command: `fedconvex audit …`, `bounds …`, `verify …`, and so on.

The roof of the house: commands import late, and nothing imports them.
"""
