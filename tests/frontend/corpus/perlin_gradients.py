import numpy as np
def fade(t): return t * t * t * (t * (t * 6 - 15) + 10)
def perlin(shape, res, rng):
    d = (shape[0] // res[0], shape[1] // res[1])
    grid = np.mgrid[0:res[0]:1/d[0], 0:res[1]:1/d[1]].transpose(1, 2, 0) % 1
    ang = 2 * np.pi * rng.random((res[0] + 1, res[1] + 1))
    g = np.dstack((np.cos(ang), np.sin(ang)))
    G = g.repeat(d[0], 0).repeat(d[1], 1)
    g00, g10, g01, g11 = G[:-d[0], :-d[1]], G[d[0]:, :-d[1]], G[:-d[0], d[1]:], G[d[0]:, d[1]:]
    n00 = np.sum(np.dstack((grid[:, :, 0], grid[:, :, 1])) * g00, 2)
    n10 = np.sum(np.dstack((grid[:, :, 0] - 1, grid[:, :, 1])) * g10, 2)
    n01 = np.sum(np.dstack((grid[:, :, 0], grid[:, :, 1] - 1)) * g01, 2)
    n11 = np.sum(np.dstack((grid[:, :, 0] - 1, grid[:, :, 1] - 1)) * g11, 2)
    t = fade(grid)
    n0 = n00 * (1 - t[:, :, 0]) + t[:, :, 0] * n10
    n1 = n01 * (1 - t[:, :, 0]) + t[:, :, 0] * n11
    return np.sqrt(2) * ((1 - t[:, :, 1]) * n0 + t[:, :, 1] * n1)
n = perlin((16, 16), (2, 2), np.random.default_rng(0))
print(n.shape, n.min().round(5), n.max().round(5), n[3, 4:7])
