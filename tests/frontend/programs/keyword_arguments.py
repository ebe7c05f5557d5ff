import numpy as np
x = np.arange(6.0).reshape(2, 3)
opts = {"axis": -1, "keepdims": True}
print(np.sum(x, **opts), np.max(a=x, axis=0), np.split(x, indices_or_sections=3, axis=1)[0], np.concatenate(axis=0, arrays=None) if False else 0)
print(np.full(shape=(2,), fill_value=3), np.zeros(shape=2, dtype="int32"), np.tri(N=2), np.transpose(x, axes=[1, 0]), np.expand_dims(x, axis=0).shape)
print(np.reshape(x, shape=(3, 2)) if False else x.reshape(3, 2), np.linspace(start=0, stop=1, num=3), np.arange(1, 7, step=2))
