import numpy as np

WIDTH, HEIGHT = 24, 12


def normalize(v):
    return v / np.linalg.norm(v, axis=-1, keepdims=True)


def sd_sphere(p, center, radius):
    return np.linalg.norm(p - center, axis=-1) - radius


def sd_plane(p, height=-1.0):
    return p[..., 1] - height


def scene(p):
    a = sd_sphere(p, np.array([0.0, 0.0, 3.0]), 1.0)
    b = sd_sphere(p, np.array([1.0, 0.5, 2.5]), 0.5)
    return np.minimum(np.minimum(a, b), sd_plane(p))


def normal(p, eps=1e-4):
    n = np.empty_like(p)
    for i in range(3):
        d = np.zeros(3)
        d[i] = eps
        n[..., i] = scene(p + d) - scene(p - d)
    return normalize(n)


u, v = np.meshgrid(np.linspace(-1.5, 1.5, WIDTH), np.linspace(0.9, -0.9, HEIGHT))
rays = normalize(np.stack([u, v, np.full_like(u, 1.8)], axis=-1))
origin = np.array([0.0, 0.2, -1.0])
t = np.zeros(u.shape)
active = np.ones(u.shape, dtype=bool)
for step in range(48):
    p = origin + rays * t[..., None]
    d = scene(p)
    hit = d < 1e-3
    active &= ~hit & (t < 20)
    if not active.any():
        break
    t[active] += d[active]
p = origin + rays * t[..., None]
light = normalize(np.array([1.0, 2.0, -1.5]))
shade = np.clip(np.einsum("ijk,k->ij", normal(p), light), 0, 1)
shade[t >= 20] = 0
chars = np.array(list(" .:-=+*#%@"))
for row in (shade * 9).astype(int):
    print("".join(chars[row]))
print("mean shade %.4f, max depth %.3f" % (shade.mean(), t.max()))
