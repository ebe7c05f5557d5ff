import numpy
import numpy as xp
from numpy import array as A, float32, zeros
import numpy.linalg as la
f = xp.tanh
print(f(numpy.ones(2)), A([1, 2]), zeros(2), float32(1.5), la.norm(xp.ones(4)), (lambda g: g(4.0))(numpy.sqrt))
activations = {"tanh": numpy.tanh, "relu": lambda v: numpy.maximum(v, 0)}
for name in ("tanh", "relu"):
    print(name, activations[name](A([-1.0, 2.0])))
