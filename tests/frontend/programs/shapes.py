import numpy as np
x = np.arange(24).reshape(2, 3, 4)
print(x.T.shape, x.transpose(1, 0, 2)[0], np.swapaxes(x, 0, 2).shape, x.swapaxes(-1, -2)[1], np.moveaxis(x, 0, -1).shape)
print(x.ravel()[:5], x.flatten().shape, np.reshape(x, (4, -1)).shape, x.reshape(-1, 2, 2).shape, x.reshape((6, 4))[5])
print(np.expand_dims(x, 1).shape, np.expand_dims(x, (0, -1)).shape, np.squeeze(x[None, :, :1]).shape, x[:1].squeeze(axis=0).shape)
print(np.atleast_2d(np.arange(3)).shape, np.broadcast_to(np.arange(3), (2, 3)), np.shape(x), np.ndim(x), np.size(x), x.size, len(x))
