"""How claims look: terms in a paper's letters, formulas as they were written, settings in words."""
