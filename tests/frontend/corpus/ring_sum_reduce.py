import numpy as np
from functools import reduce
mats = [np.array([[1, i], [0, 1]]) for i in range(5)]
print(reduce(np.matmul, mats), reduce(lambda a, b: a + b, [m.sum() for m in mats]))
