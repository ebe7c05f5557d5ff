# edges(image: float64[20, 24])
import numpy as np


def convolve2d(img, kernel):
    kh, kw = kernel.shape
    ph, pw = kh // 2, kw // 2
    padded = np.pad(img, ((ph, ph), (pw, pw)), mode="edge")
    out = np.zeros_like(img)
    for i in range(kh):
        for j in range(kw):
            out += kernel[i, j] * padded[i : i + img.shape[0], j : j + img.shape[1]]
    return out


def edges(image):
    gx = np.array([[-1, 0, 1], [-2, 0, 2], [-1, 0, 1]], dtype=float)
    gy = gx.T
    dx, dy = convolve2d(image, gx), convolve2d(image, gy)
    mag = np.hypot(dx, dy)
    mag /= mag.max() + 1e-12
    direction = np.rad2deg(np.arctan2(dy, dx)) % 180
    # non maximum suppression, 4 directions
    out = np.zeros_like(mag)
    H, W = image.shape
    for i in range(1, H - 1):
        for j in range(1, W - 1):
            a = direction[i, j]
            if a < 22.5 or a >= 157.5:
                n1, n2 = mag[i, j - 1], mag[i, j + 1]
            elif a < 67.5:
                n1, n2 = mag[i - 1, j + 1], mag[i + 1, j - 1]
            elif a < 112.5:
                n1, n2 = mag[i - 1, j], mag[i + 1, j]
            else:
                n1, n2 = mag[i - 1, j - 1], mag[i + 1, j + 1]
            if mag[i, j] >= n1 and mag[i, j] >= n2:
                out[i, j] = mag[i, j]
    return out > 0.3, out
