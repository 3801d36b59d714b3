"""Compilation works where no folder for the machine code is writable."""

import numpy as np
import pytest
from numba.core.caching import CacheImpl

from fedconvex.arithmetic.machine_code import compiled


@pytest.mark.beyond_core  # takes seconds
def test_without_a_folder_for_machine_code(monkeypatch):
    def one_more(numbers):
        numbers[0] += 1

    monkeypatch.setattr(CacheImpl, "_locator_classes", [])
    numbers = np.zeros(1)
    compiled(one_more)(numbers)
    assert numbers[0] == 1
