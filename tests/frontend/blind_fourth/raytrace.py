import numpy as np
from typing import NamedTuple, Optional


class Hit(NamedTuple):
    t: float
    normal: np.ndarray
    color: np.ndarray


def unit(v):
    return v / np.linalg.norm(v)


class Sphere:
    def __init__(self, c, r, color):
        self.c, self.r, self.color = np.asarray(c, float), r, np.array(color)

    def intersect(self, o, d) -> Optional[Hit]:
        oc = o - self.c
        b = d @ oc
        disc = b * b - (oc @ oc - self.r**2)
        if disc < 0:
            return None
        t = -b - np.sqrt(disc)
        if t < 1e-4:
            return None
        return Hit(t, unit(o + t * d - self.c), self.color)


class Plane:
    def __init__(self, y, c1, c2):
        self.y, self.c1, self.c2 = y, np.array(c1), np.array(c2)

    def intersect(self, o, d):
        if abs(d[1]) < 1e-6:
            return None
        t = (self.y - o[1]) / d[1]
        if t < 1e-4:
            return None
        p = o + t * d
        check = (int(np.floor(p[0])) + int(np.floor(p[2]))) % 2
        return Hit(t, np.array([0, 1.0, 0]), self.c1 if check else self.c2)


SCENE = [Sphere((0, 0, 4), 1, (1, 0.2, 0.2)), Sphere((1.5, 0.3, 3), 0.6, (0.2, 1, 0.2)), Plane(-1, (1.0, 1, 1), (0.1, 0.1, 0.1))]
LIGHT = unit(np.array([1, 2, -1.5]))


def trace(o, d, depth=0):
    hits = [h for s in SCENE if (h := s.intersect(o, d)) is not None]
    if not hits:
        return np.array([0.5, 0.7, 1.0])
    hit = min(hits, key=lambda h: h.t)
    p = o + hit.t * d
    shadow = any(s.intersect(p + 1e-3 * hit.normal, LIGHT) for s in SCENE)
    diff = 0.1 if shadow else max(hit.normal @ LIGHT, 0.1)
    col = hit.color * diff
    if depth < 1:
        r = d - 2 * (d @ hit.normal) * hit.normal
        col = 0.8 * col + 0.2 * trace(p, r, depth + 1)
    return col


W, H = 20, 10
img = np.zeros((H, W, 3))
eye = np.zeros(3)
for j in range(H):
    for i in range(W):
        d = unit(np.array([(i + 0.5) / W * 2 - 1, 0.6 - (j + 0.5) / H * 1.2, 1.0]))
        img[j, i] = trace(eye, d)
lum = np.clip(img, 0, 1) @ [0.2126, 0.7152, 0.0722]
chars = np.array(list(" .:-=+*#%@"))
for row in chars[(lum * 9.999).astype(int)]:
    print("".join(row))
rgb8 = (np.clip(img, 0, 1) ** (1 / 2.2) * 255 + 0.5).astype(np.uint8)
print(rgb8.mean(axis=(0, 1)).round(3), rgb8.dtype)
