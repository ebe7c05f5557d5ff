import numpy as np
t = 1, 2.5, "x"
print(t, t[0], t[1:], t + (4,), t * 2, len(t), t.index(2.5), t.count(1), (), (1,), 2.5 in t, t == (1, 2.5, "x"))
def both(v):
    return v + 1, v * 2
a, b = both(np.arange(2))
print(a, b, both(3))
shape = (2,) + (3,)
print(np.zeros(shape).shape, np.zeros((*shape, 4)).shape)
