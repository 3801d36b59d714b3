"""A method's rounds on a problem: one round (`rounds`), many (`simulation`), their measurements and checkpoints."""
