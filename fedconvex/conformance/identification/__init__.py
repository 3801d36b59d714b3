"""Identify what code does: a method's round with some of its steps edited, played on many candidates at once.

`edits.toml` lists the edits, in `formulas` over a `vocabulary`, and `edits` reads it; `play` plays many edited methods
together, `agreement` compares them with runs, and `identify` searches.
"""
