"""What decides a step: each engine is loaded when it is needed, and says honestly what it shows.

| module | decides | by |
|---|---|---|
| `algebra` | equality of rational functions | exact polynomial arithmetic |
| `signs` | a rational function of the parameters has a sign wherever the assumptions hold | coefficients, else z3 |
| `hilbert` | inner products of vectors, clients' families, and averages over drawn clients | bilinearity |
| `facts` | which inequalities may be used | a closed list: definitions and textbook facts |
| `checks` | a claim follows from facts | multipliers, an exact identity, and signs |
| `sampling` | moments of who is drawn | generating functions, and enumeration |
| `tightness` | how much of a bound is used | exact runs on an instance that a search has found |
| `witnesses` | a claim is false | a program of twenty lines that anyone can run |
"""
