import numpy as np
x = np.arange(12).reshape(3, 4)
i = np.array([2, 0, 0])
print(x[i], x[[1, 2]], x[:, i], x[i, 1:3], x[1, i], x[range(2)], np.take(x, i, axis=1), np.take(x, [1, 5]), x.take(2))
print(x[np.array([[0, 1], [2, 0]])].shape, x[np.argmax(x[:, 0])], x[i][0], x[:, [0, -1]])
