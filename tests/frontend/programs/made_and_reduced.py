# Windows, spacings and indices that NumPy makes of numbers; select; methods of ufuncs.
import numpy as np

print(np.hamming(7), np.hanning(1), np.blackman(5).dtype, np.bartlett(0), np.kaiser(6, 8.6))
print(np.logspace(0, 3, 4), np.geomspace(1, 1000, num=4), np.logspace(1, 2, 3, endpoint=False, base=2.0, dtype=np.float32))
m = np.arange(12).reshape(3, 4)
x = np.linspace(-2, 2, 9)
rows, columns = np.triu_indices(3, 1)
print(m[rows, columns], m[np.tril_indices(3, -1)], m[np.tril_indices(3, 0, 4)], m[np.diag_indices(3)], np.indices((2, 3)))
print(np.select([x < -1, x > 1], [x * 2, x * x]), np.select([x < 0, x < 1], [1, 2], default=-1), np.select([m > 3], [m], 0.5).dtype)
print(np.select([np.array([True, False])], [np.array([1, 2], np.int8)], 7), np.select([x > 0, x > 1], [np.float32(1), 3]))
print(np.add.reduce(m), np.add.reduce(m, axis=None), np.multiply.reduce(m, 1), np.maximum.reduce(m, axis=1, keepdims=True))
print(np.minimum.reduce(x), np.logical_and.reduce(m), np.logical_or.reduce(m > 5, axis=0), np.add.reduce(np.ones(3, np.int8)).dtype)
print(np.add.accumulate(m), np.add.accumulate(x, 0), np.subtract.outer(x[:2], m[0]), np.less.outer(m[0], m[1]), np.add.outer(m[:2], x[:2]))
print(np.bitwise_and.outer(m[0], m[1]), np.multiply.outer(np.float32(2), x), np.maximum.outer(m[0], np.array([2, 9])))
