# render(directions: float64[40, 3])
import numpy as np


def normalize(v):
    return v / np.linalg.norm(v, axis=-1, keepdims=True)


def intersect(origin, d, center, radius):
    oc = origin - center
    b = np.sum(d * oc, axis=-1)
    c = np.dot(oc, oc) - radius**2
    disc = b * b - c
    t = np.where(disc > 0, -b - np.sqrt(np.maximum(disc, 0)), np.inf)
    return np.where(t > 0, t, np.inf)


def render(directions):
    spheres = [(np.array([0.0, 0.0, 3.0]), 1.5, np.array([1.0, 0.2, 0.2])), (np.array([1.0, 1.0, 4.0]), 2.0, np.array([0.2, 1.0, 0.2]))]
    light = normalize(np.array([1.0, 1.0, -1.0]))
    d = normalize(directions)
    o = np.zeros(3)
    ts = np.stack([intersect(o, d, c, r) for c, r, _ in spheres])
    nearest = ts.argmin(axis=0)
    t = ts.min(axis=0)
    hit = np.isfinite(t)
    colour = np.zeros((len(d), 3))
    for i, (c, r, col) in enumerate(spheres):
        m = hit & (nearest == i)
        p = o + np.where(m, t, 0)[:, None] * d
        normal = normalize(p - c)
        lambert = np.clip(normal @ light, 0.1, 1)
        colour += m[:, None] * lambert[:, None] * col
    return (colour * 255).astype(np.uint8)
