"""Results of `verify` as plain data, kept, compared with what was recorded, and written as pages."""
