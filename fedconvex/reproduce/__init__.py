"""The figures and tables of the papers, run again: one TOML file each, under `experiments/`.

`spec` reads and checks the files, `building` makes problems and methods of them, `running` runs them, `measuring` says
what a number in them means, `summary` compares with what was published, `figure` draws.
"""

from fedconvex.reproduce.specification import Experiment as Experiment
from fedconvex.reproduce.specification import experiments as experiments
from fedconvex.reproduce.specification import read as read
