"""Color space conversions and dithering."""
import numpy as np


def rgb_to_gray(rgb):
    return np.dot(rgb[..., :3], [0.2989, 0.5870, 0.1140])


def rgb_to_hsv(rgb):
    rgb = rgb.astype(float) / 255
    maxc = rgb.max(axis=-1)
    minc = rgb.min(axis=-1)
    v = maxc
    delta = maxc - minc
    s = np.where(maxc > 0, delta / np.where(maxc > 0, maxc, 1), 0)
    safe = np.where(delta == 0, 1, delta)
    r, g, b = np.moveaxis(rgb, -1, 0)
    h = np.select(
        [delta == 0, maxc == r, maxc == g],
        [0, ((g - b) / safe) % 6, (b - r) / safe + 2],
        default=(r - g) / safe + 4,
    )
    return np.stack([h * 60, s, v], axis=-1)


def floyd_steinberg(gray):
    img = gray.astype(float).copy()
    h, w = img.shape
    for y in range(h):
        for x in range(w):
            old = img[y, x]
            new = 255.0 if old > 127 else 0.0
            img[y, x] = new
            err = old - new
            if x + 1 < w:
                img[y, x + 1] += err * 7 / 16
            if y + 1 < h:
                if x > 0:
                    img[y + 1, x - 1] += err * 3 / 16
                img[y + 1, x] += err * 5 / 16
                if x + 1 < w:
                    img[y + 1, x + 1] += err * 1 / 16
    return img.astype(np.uint8)


pixels = np.array([[[255, 0, 0], [0, 255, 0]], [[0, 0, 255], [128, 128, 64]]], dtype=np.uint8)
print(rgb_to_gray(pixels))
print(rgb_to_hsv(pixels).round(3))
ramp = np.tile(np.linspace(0, 255, 12), (6, 1))
d = floyd_steinberg(ramp)
for row in d:
    print("".join("█" if v else " " for v in row))
print("mean preserved within", abs(d.mean() - ramp.mean()) < 10)
