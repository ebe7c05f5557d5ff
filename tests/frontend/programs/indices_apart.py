import numpy as np

a = np.arange(120).reshape(2, 3, 4, 5)
i, j = np.array([0, 1]), [2, 0]
print(a[0, :, [1, 3]].shape, a[0, :, [1, 3]][1, 2], a[:, [0, 2], 1].shape, a[:, [0, 2], 1][0, 1])
print(a[i, :, j].shape, a[i, :, j][1, 2], a[:, i, :, j].shape, a[:, i, :, j][1, 0, 3], a[1, :, [0, 1], None].shape)
f = np.vectorize(lambda v, w: v if v > w else -w)
print(f([1, 5], [3, 2]), np.vectorize(len)(["a", "bbb"]), np.vectorize(lambda v: v / 2, otypes=[int])([3, 4]))
print(np.piecewise(np.array([-1.0, 2, 5]), [np.array([-1.0, 2, 5]) < 0, np.array([-1.0, 2, 5]) > 3], [lambda v: -v, 7, lambda v: v * 10]))
print(np.full((2, 3), [1, 2, 3]), np.fromiter((v for v in range(3)), float))
