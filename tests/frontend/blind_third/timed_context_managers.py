from contextlib import contextmanager

import numpy as np

LOG = []


@contextmanager
def section(name):
    LOG.append(f"> {name}")
    try:
        yield len(LOG)
    finally:
        LOG.append(f"< {name}")


class TempPrint:
    def __init__(self, precision):
        self.precision = precision

    def __enter__(self):
        self.old = np.get_printoptions()["precision"]
        np.set_printoptions(precision=self.precision)
        return self

    def __exit__(self, exc_type, exc, tb):
        np.set_printoptions(precision=self.old)
        return exc_type is ZeroDivisionError


a = np.linspace(0, 1, 4)
with section("outer") as depth:
    with section("inner"), TempPrint(2) as tp:
        print(a, tp.precision)
    print(a)
with TempPrint(3):
    print(a ** 2)
    1 / 0
print("after", depth)
print("\n".join(LOG))
