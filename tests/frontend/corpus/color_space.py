# to_hsv(rgb: uint8[6, 6, 3])
import numpy as np


def to_hsv(rgb):
    x = rgb.astype(np.float32) / 255.0
    r, g, b = x[..., 0], x[..., 1], x[..., 2]
    maxc, minc = x.max(-1), x.min(-1)
    delta = maxc - minc
    safe = np.where(delta == 0, 1, delta)
    h = np.select([maxc == r, maxc == g], [((g - b) / safe) % 6, (b - r) / safe + 2], default=(r - g) / safe + 4)
    h = np.where(delta == 0, 0, h * 60)
    s = np.where(maxc == 0, 0, delta / np.where(maxc == 0, 1, maxc))
    gray = np.dot(rgb[..., :3], [0.299, 0.587, 0.114]).astype(np.uint8)
    return np.stack([h, s, maxc], axis=-1), gray
