import numpy as np
x = np.arange(4).reshape(2, 2)
print(np.tile(x, 2), np.tile(x, (2, 1)), np.tile(x, (2, 1, 1)).shape, np.repeat(x, 2), np.repeat(x, 3, axis=1), x.repeat(2, axis=0))
print(np.flip(x), np.flip(x, 1), np.flipud(x), np.fliplr(x), np.roll(np.arange(5), 2), np.roll(x, 1, axis=1), np.roll(x, -1), np.pad(x, 1), np.pad(x, ((0, 1), (2, 0)), constant_values=9))
print(np.diagonal(x) if False else x.diagonal())
