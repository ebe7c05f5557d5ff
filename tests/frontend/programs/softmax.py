import numpy as np

def softmax(x, axis=-1):
    e = np.exp(x - x.max(axis=axis, keepdims=True))
    return e / e.sum(axis=axis, keepdims=True)

x = np.linspace(-3, 3, 12).reshape(3, 4)
print(softmax(x), softmax(x, axis=0).sum(axis=0))
