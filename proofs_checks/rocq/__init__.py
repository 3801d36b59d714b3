"""The second kernel: statements as theorems of Rocq with proofs generated from the proofs as data, down to definitions.

`FedConvex/` is the library of definitions and lemmas; `files` writes a folder that Rocq compiles, `compiling` does it.
"""
