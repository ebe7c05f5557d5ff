import numpy as np
x = np.arange(24).reshape(2, 3, 4)
print(x[0], x[-1, 1:], x[:, 2], x[..., -1], x[None, 0].shape, x[:, np.newaxis, 1].shape)
print(x[::-1, ::2, 1:3], x[:, ::-1, 3], x[1, ..., ::-2], x[5:], x[:, 1:1].shape, x[0, 2, 3], x[-2:, -1:, -3:-1])
i = 1
print(x[i, i + 1, i:i + 2], x[(0, 1)], x[..., None].shape, x[0][1][2])
s = np.arange(10)
print(s[::3], s[7:2:-2], s[-3:], s[:-7:-1], s[100:], s[::-1])
