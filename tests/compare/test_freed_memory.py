"""Arrays of a few MB that are freed are handed out again without new pages from the system."""

from __future__ import annotations

import subprocess
import sys

import pytest

from fleet.compare.freed_memory import keep_freed_memory

FAULTS = """
import resource
import numpy as np
from fleet.compare.freed_memory import keep_freed_memory
keep_freed_memory()
def work():
    return [np.zeros(400_000) + 1 for _ in range(4)]
work()
before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
for _ in range(20):
    work()
print((resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before) * resource.getpagesize() / (20 * 4 * 400_000 * 8))
"""


@pytest.mark.skipif(not keep_freed_memory(), reason="the C library has no such limits")
def test_freed_arrays_come_back_without_new_pages() -> None:
    run = subprocess.run([sys.executable, "-c", FAULTS], capture_output=True, text=True, check=True)
    assert float(run.stdout) < 0.1, "the share of what was made that the system had to give as new pages"
