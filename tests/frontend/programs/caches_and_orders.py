import numpy as np
from functools import lru_cache, cache
x = np.array([2, 1, 2, 1, 3, 1, 2, 3, 1, 1, 2, 2, 3, 1, 2, 1, 2, 3, 3, 1, 1, 2] * 3)
print(np.argsort(x, kind="mergesort"))
print(np.argsort(x, kind="stable"))
print(np.argsort(x))
print(np.argsort(x, kind="quicksort"))
@cache
def f(a, k=0, x=0):
    return a, k, x
print(f(1, "x", 2), f(1, x=2))
@lru_cache(maxsize=1)
def g(n):
    print("g", n)
    return n * 2
print(g(1), g(2), g(1), g(1))
@lru_cache
def fib(n):
    return n if n < 2 else fib(n - 1) + fib(n - 2)
print(fib(90))
@lru_cache(maxsize=None)
def h(n):
    print("h", n)
    return n
h(1); h(1); h(True); h(1.0)
@lru_cache(maxsize=2)
def k(*a):
    print("k", a)
    return a
k(1); k(2); k(1); k(3); k(2); k(1)
