import numpy as np

W, H = 16, 8
def normalize(v, axis=-1):
    return v / np.linalg.norm(v, axis=axis, keepdims=True)

ys, xs = np.mgrid[1:-1:H * 1j, -2:2:W * 1j]
origin = np.array([0.0, 0.0, -3.0])
d = normalize(np.stack([xs, ys, np.full_like(xs, 2.0)], axis=-1))
spheres = [(np.array([0, 0, 0.0]), 1.0, 0.9), (np.array([1.2, 0.4, 1.0]), 0.7, 0.6)]
light = normalize(np.array([-1.0, 1.0, -1.0]))
depth = np.full((H, W), np.inf)
shade = np.zeros((H, W))
for c, r, albedo in spheres:
    oc = origin - c
    b = d @ oc
    disc = b ** 2 - (oc @ oc - r * r)
    hit = disc > 0
    with np.errstate(invalid="ignore"):
        t = -b - np.sqrt(disc)
    closer = hit & (t < depth) & (t > 0)
    p = origin + t[..., None] * d
    n = normalize(p - c)
    lam = np.clip((n * light).sum(-1), 0, 1)
    depth = np.where(closer, t, depth)
    shade = np.where(closer, 0.1 + albedo * lam, shade)
ramp = " .:-=+*#%@"
for row in (shade * (len(ramp) - 1)).astype(int):
    print("".join(ramp[v] for v in row))
print(np.isfinite(depth).sum())
