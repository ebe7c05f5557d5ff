import numpy as np

rng = np.random.default_rng(123)


class Layer:
    params = ()

    def step(self, lr):
        for p, g in self.params:
            p -= lr * g


class Conv3x3(Layer):
    def __init__(self, filters):
        self.filters = rng.standard_normal((filters, 3, 3)) / 9

    def patches(self, image):
        h, w = image.shape
        for i in range(h - 2):
            for j in range(w - 2):
                yield image[i:i + 3, j:j + 3], i, j

    def forward(self, image):
        self.last = image
        h, w = image.shape
        out = np.zeros((h - 2, w - 2, len(self.filters)))
        for patch, i, j in self.patches(image):
            out[i, j] = np.sum(patch * self.filters, axis=(1, 2))
        return out

    def backward(self, d):
        g = np.zeros(self.filters.shape)
        for patch, i, j in self.patches(self.last):
            for f in range(len(self.filters)):
                g[f] += d[i, j, f] * patch
        self.params = ((self.filters, g),)


class Pool2(Layer):
    def forward(self, x):
        h, w, c = x.shape
        self.blocks = x.reshape(h // 2, 2, w // 2, 2, c)
        out = self.blocks.max(axis=(1, 3))
        self.mask = self.blocks == out[:, None, :, None, :]
        self.shape = x.shape
        return out

    def backward(self, d):
        return (self.mask * d[:, None, :, None, :]).reshape(self.shape)


class Dense(Layer):
    def __init__(self, n, m):
        self.w = rng.standard_normal((n, m)) / n
        self.b = np.zeros(m)

    def forward(self, x):
        self.shape = x.shape
        self.x = x.flatten()
        z = self.x @ self.w + self.b
        e = np.exp(z - np.max(z))
        return e / np.sum(e)

    def backward(self, p, label):
        d = p.copy()
        d[label] -= 1
        self.params = ((self.w, np.outer(self.x, d)), (self.b, d))
        return (self.w @ d).reshape(self.shape)


def sample(label):
    img = rng.normal(0, 0.1, (8, 8))
    if label:
        img[:, 3:5] += 1
    else:
        img[3:5] += 1
    return img


conv, pool, dense = Conv3x3(4), Pool2(), Dense(36, 2)
correct, total = 0, 0.0
for n in range(10):
    label = n % 2
    img = sample(label)
    p = dense.forward(pool.forward(conv.forward(img)))
    total -= np.log(p[label])
    correct += int(np.argmax(p) == label)
    conv.backward(pool.backward(dense.backward(p, label)))
    for layer in (conv, dense):
        layer.step(0.05)
    if n % 5 == 4:
        print(f"[{n + 1}] loss {total / 5:.3f} acc {correct / 5:.0%}")
        correct, total = 0, 0.0
print(conv.filters[0].round(4))
