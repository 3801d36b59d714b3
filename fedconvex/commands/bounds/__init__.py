"""`fedconvex bounds`: a statement's value at the user's constants, as a number, a table, a figure or a worst case.

`command` has the options; `formulas` finds the formula, `parameters` reads its arguments, `numbers` evaluates it with
proved digits, `sweep` over a grid, `figure` draws the sweep, `looseness` compares the bound with the exact worst case.
"""
