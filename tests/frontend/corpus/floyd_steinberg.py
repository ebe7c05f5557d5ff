# dither(img: float64[10, 12] positive)
import numpy as np


def dither(img, levels=2):
    out = img / img.max()
    h, w = out.shape
    for y in range(h):
        for x in range(w):
            old = out[y, x]
            new = np.round(old * (levels - 1)) / (levels - 1)
            out[y, x] = new
            err = old - new
            if x + 1 < w:
                out[y, x + 1] += err * 7 / 16
            if y + 1 < h:
                if x > 0:
                    out[y + 1, x - 1] += err * 3 / 16
                out[y + 1, x] += err * 5 / 16
                if x + 1 < w:
                    out[y + 1, x + 1] += err * 1 / 16
    return out.astype(np.uint8)
