"""`fedconvex bounds`: a statement's numbers at a user's constants, as a value, a table, a picture or a worst case."""
