"""Reproduction of the papers' figures and tables: one TOML file for each, in `experiments/`.

`pipeline` takes an experiment from its file to its results. `specification` reads and checks the file (`toml_files`)
and its published tables, `inputs` builds its problems, data and methods, `execution` runs them, `metrics` computes what
its formulas refer to (`expressions`), `summary` compares with the published numbers, `figure` draws.
"""

from fedconvex.reproduce.specification import Experiment as Experiment
from fedconvex.reproduce.specification import experiments as experiments
from fedconvex.reproduce.specification import read as read
