import sys
from sys import argv
import numpy as np
s = slice(2, None, 3)
print(s.start, s.stop, s.step, s.indices(10), range(2, 9, 3).stop, len(argv), argv is sys.argv, s)
class V:
    def __init__(self, x): self.x = x
    def __getitem__(self, i):
        if isinstance(i, slice):
            return [self.x[k] for k in range(*i.indices(len(self.x)))]
        return self.x[i]
print(V(np.arange(8))[1:7:2], V([1, 2])[-1])
d = {"a": 1}
k, v = d.keys(), d.items()
d["b"] = 2
print(k, list(v), d.values(), "b" in k, len(v), sorted(k & {"a", "b"}), d.items() == {"a": 1, "b": 2}.items())
