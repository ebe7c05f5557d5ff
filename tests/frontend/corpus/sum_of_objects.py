#! F408: np.sum of a list of objects
from __future__ import annotations
import numpy as np
import math

class Dual:
    def __init__(self, v, d=0.0): self.v, self.d = v, d
    @staticmethod
    def lift(x): return x if isinstance(x, Dual) else Dual(x)
    def __add__(s, o): o = Dual.lift(o); return Dual(s.v + o.v, s.d + o.d)
    __radd__ = __add__
    def __sub__(s, o): return s + (-Dual.lift(o))
    def __rsub__(s, o): return Dual.lift(o) - s
    def __neg__(s): return Dual(-s.v, -s.d)
    def __mul__(s, o): o = Dual.lift(o); return Dual(s.v * o.v, s.d * o.v + s.v * o.d)
    __rmul__ = __mul__
    def __truediv__(s, o): o = Dual.lift(o); return Dual(s.v / o.v, (s.d * o.v - s.v * o.d) / o.v ** 2)
    def __pow__(s, n): return Dual(s.v ** n, n * s.v ** (n - 1) * s.d)
    def sin(s): return Dual(math.sin(s.v), math.cos(s.v) * s.d)
    def exp(s): return Dual(math.exp(s.v), math.exp(s.v) * s.d)
    def __format__(s, spec): return f"{s.v:{spec}}+{s.d:{spec}}e"
    def __lt__(s, o): return s.v < Dual.lift(o).v

def newton(f, x0, tol=1e-12, itmax=50):
    x = x0
    for it in range(itmax):
        y = f(Dual(x, 1.0))
        step = y.v / y.d
        x -= step
        if abs(step) < tol:
            break
    else:
        raise RuntimeError("no convergence")
    return x, it

root, its = newton(lambda x: x ** 3 - 2 * x - 5, 2.0)
print(f"{root:.12f} after {its}")
g = Dual(1.5, 1.0)
print(f"{(g.sin() * g.exp() / (1 + g)):.6f}", Dual(1) < 2)
print(np.sum([Dual(1, 2), Dual(3, 4)]).d)
