import numpy as np
from numpy import errstate

x = np.array([1.0, 0.0, -1.0])
with np.errstate(divide="ignore", invalid="ignore"):
    y = 1 / x
with errstate(all="ignore"), np.printoptions(precision=3):
    z = np.log(x)
    print("inside", z.shape)
print(y, z)


def f(v):
    with np.errstate(all="warn", under=None):
        return v * 2


def g(v):
    try:
        w = f(v)
    except (ValueError, TypeError) as error:
        raise RuntimeError("never") from error
    else:
        w = w + 1
    finally:
        print("done")
    return w


def h(n):
    for i in range(n):
        try:
            if i == 2:
                break
        finally:
            print("round", i)
    try:
        return i
    finally:
        i = 100


print(g(x), h(5))
try:
    import math
except ImportError:
    math = None
print(math.sqrt(4.0))
assert x.shape == (3,), f"shape {x.shape}"
a, *b = (first := [1, 2, 3])
print(a, b, first)
