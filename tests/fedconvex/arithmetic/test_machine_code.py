"""Compiled functions where nothing can be kept."""

import numpy as np
from numba.core.caching import CacheImpl

from fedconvex.arithmetic.machine_code import kept


def test_without_a_folder_for_machine_code(monkeypatch):
    def one_more(numbers):
        numbers[0] += 1

    monkeypatch.setattr(CacheImpl, "_locator_classes", [])
    numbers = np.zeros(1)
    kept(one_more)(numbers)
    assert numbers[0] == 1
