import numpy as np


def gaussian_kernel(size: int, sigma: float = 1.0) -> np.ndarray:
    k = size // 2
    y, x = np.mgrid[-k:k + 1, -k:k + 1]
    g = np.exp(-(x**2 + y**2) / (2.0 * sigma**2))
    return g / g.sum()


def convolve2d(img, kernel, mode="reflect"):
    kh, kw = kernel.shape
    ph, pw = kh // 2, kw // 2
    padded = np.pad(img, ((ph, ph), (pw, pw)), mode=mode)
    win = np.lib.stride_tricks.sliding_window_view(padded, (kh, kw))
    return np.einsum("ijkl,kl->ij", win, kernel[::-1, ::-1])


def sobel(img):
    kx = np.array([[-1, 0, 1], [-2, 0, 2], [-1, 0, 1]], dtype=np.float64)
    gx = convolve2d(img, kx)
    gy = convolve2d(img, kx.T)
    mag = np.hypot(gx, gy)
    mag *= 255.0 / mag.max()
    theta = np.arctan2(gy, gx)
    return mag, theta


def non_max_suppression(mag, theta):
    H, W = mag.shape
    out = np.zeros_like(mag)
    angle = np.rad2deg(theta) % 180
    for i in range(1, H - 1):
        for j in range(1, W - 1):
            a = angle[i, j]
            if a < 22.5 or a >= 157.5:
                q, r = mag[i, j + 1], mag[i, j - 1]
            elif a < 67.5:
                q, r = mag[i + 1, j + 1], mag[i - 1, j - 1]
            elif a < 112.5:
                q, r = mag[i + 1, j], mag[i - 1, j]
            else:
                q, r = mag[i - 1, j + 1], mag[i + 1, j - 1]
            if mag[i, j] >= q and mag[i, j] >= r:
                out[i, j] = mag[i, j]
    return out


def threshold(img, lo=0.05, hi=0.15):
    high = img.max() * hi
    low = high * lo
    res = np.zeros(img.shape, dtype=np.uint8)
    strong_i, strong_j = np.where(img >= high)
    weak = (img < high) & (img >= low)
    res[strong_i, strong_j] = 255
    res[weak] = 50
    return res


img = np.zeros((16, 16))
img[4:12, 5:11] = 200.0
img[6:8, 7:9] += 40
smooth = convolve2d(img, gaussian_kernel(5, 1.2))
mag, theta = sobel(smooth)
edges = threshold(non_max_suppression(mag, theta))
for row in edges:
    print("".join("#" if v == 255 else "+" if v else "." for v in row))
print(int((edges == 255).sum()), int((edges == 50).sum()))
