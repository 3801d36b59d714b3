"""Identify what code does: a method's round with some of its steps edited, played on many candidates at once.

`edits` defines an edit and the properties that edits violate; `local_edits`, `method_edits` and `server_edits` list
them; `play` plays many edited methods together, `agreement` compares them with runs, and `identify` searches.
"""
