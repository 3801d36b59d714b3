"""Lists the packages; everything else about the distribution is in pyproject.toml.

The built-in discovery reads import names off the tree, so it finds `fedconvex.theory` only where the link
`fedconvex/theory -> ../theory` exists: not in an unpacked sdist, nor in a checkout without symlinks. Here each folder
of the package-dir table is searched under its import name. What a link shows a second time has the same name and
counts once.
"""

import tomllib
from pathlib import Path

from setuptools import find_packages, setup

FOLDERS = tomllib.loads(Path("pyproject.toml").read_text("utf-8"))["tool"]["setuptools"]["package-dir"]
BELOW = {f"{name}.{package}" for name, folder in FOLDERS.items() for package in find_packages(folder)}

setup(packages=sorted(FOLDERS.keys() | BELOW))
