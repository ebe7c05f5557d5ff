import functools
from functools import partial, reduce

import numpy as np


def scale(x, by, plus=0.0):
    return x * by + plus


x = np.arange(4.0)
double = partial(scale, by=2.0)
print(double(x), double(x, plus=1.0), partial(double, plus=3.0)(x))
print(reduce(lambda a, b: a @ b, [np.eye(2) * i for i in (1.0, 2.0, 3.0)]))
print(reduce(lambda a, b: a + b, [1, 2, 3], 10), functools.reduce(max, [3, 9, 2]))
layers = [partial(np.multiply, s) for s in (1.0, 2.0)]
for layer in layers:
    x = layer(x)
print(x)
