from contextlib import contextmanager, suppress

import numpy as np


class Ledger:
    """Counts operations by name; a context opens a section."""

    def __init__(self):
        self.stack, self.rows = [], []

    def __enter__(self):
        self.stack.append("root")
        return self

    def __exit__(self, exc_type, exc, tb):
        self.stack.pop()
        if exc_type is ZeroDivisionError:
            self.rows.append(("error", 0))
            return True
        return False

    @contextmanager
    def section(self, name):
        self.stack.append(name)
        try:
            yield len(self.stack)
        finally:
            self.stack.pop()

    def log(self, value):
        self.rows.append(("/".join(self.stack), value))


with Ledger() as ledger:
    x = np.arange(10.0)
    with ledger.section("sum") as depth:
        ledger.log(x.sum())
        with ledger.section("partial"):
            for part in np.split(x, 2):
                ledger.log(part.sum())
    ledger.log(depth)
    1 / 0
for path, value in ledger.rows:
    print(f"{path:<20}{value:>8.2f}")
with suppress(ValueError), np.errstate(divide="ignore", invalid="ignore"):
    y = np.array([1.0, 0.0, -1.0]) / 0
    print(y)
    raise ValueError("gone")
print("stack", ledger.stack)


@contextmanager
def scaled(arr, factor):
    arr *= factor
    yield arr
    arr /= factor


with scaled(x, 10) as s:
    print(s[:3], s is x)
print(x[:3])
