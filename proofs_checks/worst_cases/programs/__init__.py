"""The semidefinite program of a question: exact data, floating-point solution, refinement to many digits."""
