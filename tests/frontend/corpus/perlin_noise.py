import numpy as np


def perlin(x, y, seed=0):
    rng = np.random.default_rng(seed)
    p = np.arange(256, dtype=int)
    rng.shuffle(p)
    p = np.concatenate([p, p])
    xi, yi = x.astype(int), y.astype(int)
    xf, yf = x - xi, y - yi
    fade = lambda t: 6 * t**5 - 15 * t**4 + 10 * t**3
    u, v = fade(xf), fade(yf)

    def gradient(h, gx, gy):
        vectors = np.array([[0, 1], [0, -1], [1, 0], [-1, 0]])
        g = vectors[h % 4]
        return g[:, :, 0] * gx + g[:, :, 1] * gy

    def lerp(a, b, t):
        return a + t * (b - a)

    n00 = gradient(p[p[xi] + yi], xf, yf)
    n01 = gradient(p[p[xi] + yi + 1], xf, yf - 1)
    n11 = gradient(p[p[xi + 1] + yi + 1], xf - 1, yf - 1)
    n10 = gradient(p[p[xi + 1] + yi], xf - 1, yf)
    return lerp(lerp(n00, n10, u), lerp(n01, n11, u), v)


lin = np.linspace(0, 4, 9, endpoint=False)
x, y = np.meshgrid(lin, lin)
noise = perlin(x, y, seed=2)
print(noise.shape, noise.min().round(4), noise.max().round(4))
print(noise[::4, ::4].round(3))
