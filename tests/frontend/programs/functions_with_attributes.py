import functools

import numpy as np


def counted(f):
    @functools.wraps(f)
    def wrapper(*args):
        wrapper.calls += 1
        return f(*args)

    wrapper.calls = 0
    return wrapper


class Net:
    def __init__(self, w):
        self.w = w

    @counted
    def forward(self, x):
        """Doc."""
        return x * self.w

    @functools.lru_cache(maxsize=None)
    def power(self, n):
        print("computing", n)
        return self.w**n


net = Net(2.0)
print(net.forward(np.arange(3)), net.forward(1), Net.forward.calls, Net.forward.__name__)
print(net.power(3), net.power(3), Net(3.0).power(2))
counted.kind = "decorator"
print(counted.kind, hasattr(counted, "other"), getattr(counted, "other", None))
