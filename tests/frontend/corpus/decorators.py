import numpy as np
import functools, time
def timed(label="t"):
    def deco(fn):
        @functools.wraps(fn)
        def inner(*args, **kwargs):
            inner.calls += 1
            t0 = time.perf_counter()
            r = fn(*args, **kwargs)
            dt = time.perf_counter() - t0
            assert dt >= 0
            return r
        inner.calls = 0
        return inner
    return deco
@timed("norm")
def norm(x, p=2):
    """p-norm"""
    return (np.abs(x) ** p).sum() ** (1 / p)
print(norm(np.arange(4.)), norm(np.arange(4.), p=1), norm.calls, norm.__name__, norm.__doc__)
def memo(f):
    cache = {}
    def g(n):
        if n not in cache:
            cache[n] = f(n)
        return cache[n]
    return g
@memo
def fib(n):
    return n if n < 2 else fib(n - 1) + fib(n - 2)
print(fib(50))
def counter():
    n = 0
    def inc(k=1):
        nonlocal n
        n += k
        return n
    return inc
c = counter(); c(); c(5)
print(c())
