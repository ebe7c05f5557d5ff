import numpy as np
x = np.ones(3)
print(x + [1, 2, 3], [1, 2, 3] * x, x == [1, 0, 1], (1, 2, 3) - x, np.add([1, 2], [3, 4]), np.exp([0, 1]), np.dot([1, 2], [3, 4]))
print(np.array([x, x * 2]), np.array([[x[0], 2], [3, 4.5]]), np.array([x.sum(), 1]), np.asarray([x]), np.array((1, 2)), np.sum([x, x], axis=0), np.mean([x.max(), 3]))
