import functools

import numpy as np

calls = {"n": 0}


def counted(fn):
    @functools.wraps(fn)
    def wrapper(*args, **kwargs):
        calls["n"] += 1
        wrapper.calls += 1
        return fn(*args, **kwargs)
    wrapper.calls = 0
    return wrapper


def repeat(times):
    def deco(fn):
        def inner(x):
            for _ in range(times):
                x = fn(x)
            return x
        return inner
    return deco


@counted
def scale(v, factor=2.0, *, offset=0.0):
    """Scale a vector."""
    return v * factor + offset


@repeat(3)
@counted
def smooth(v):
    p = np.pad(v, 1, mode="edge")
    return (p[:-2] + p[1:-1] + p[2:]) / 3


@functools.lru_cache(maxsize=None)
def binom(n, k):
    if k in (0, n):
        return 1
    return binom(n - 1, k - 1) + binom(n - 1, k)


v = np.array([0.0, 0.0, 9.0, 0.0, 0.0])
print(scale(v, offset=1), scale(v, 3))
print(smooth(v))
print(calls, scale.calls, scale.__name__, scale.__doc__)
print([binom(8, k) for k in range(9)])
