"""Sweeps: run every method on every problem with every seed, on all cores or on a cluster, into one table."""

from fedconvex.sweeps.errors import SweepFailed as SweepFailed
from fedconvex.sweeps.figure import draw_sweep as draw_sweep
from fedconvex.sweeps.grid import Setting as Setting
from fedconvex.sweeps.run import sweep as sweep
