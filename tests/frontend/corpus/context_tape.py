import numpy as np
from contextlib import contextmanager
class Tape:
    stack = []
    def __enter__(self):
        Tape.stack.append(self); self.ops = []; return self
    def __exit__(self, *exc):
        Tape.stack.pop(); return False
def rec(name, y):
    if Tape.stack: Tape.stack[-1].ops.append(name)
    return y
@contextmanager
def scope(name):
    rec(f"<{name}", None)
    try:
        yield name.upper()
    finally:
        rec(f"{name}>", None)
with Tape() as t:
    with scope("blk") as s:
        y = rec("exp", np.exp(np.arange(3)))
    z = rec("sum", y.sum())
print(t.ops, s, z, len(Tape.stack))
