import time
from contextlib import contextmanager

import numpy as np

log = []


@contextmanager
def timer(label):
    start = time.time()
    try:
        yield
    finally:
        log.append((label, time.time() - start >= 0))


class Section:
    depth = 0

    def __init__(self, title):
        self.title = title

    def __enter__(self):
        print("  " * Section.depth + "begin " + self.title)
        Section.depth += 1
        return self

    def __exit__(self, exc_type, exc, tb):
        Section.depth -= 1
        print("  " * Section.depth + "end " + self.title)
        return False


with timer("matmul"):
    a = np.arange(16).reshape(4, 4)
    b = a @ a.T
with Section("outer"):
    with Section("inner") as s, timer("svd"):
        print(s.title, np.linalg.svd(b.astype(float), compute_uv=False)[:2].round(3))
print(log)
