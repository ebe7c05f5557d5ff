import numpy as np


def convolve2d(img, k):
    kh, kw = k.shape
    pad = np.pad(img, ((kh // 2,), (kw // 2,)), mode="edge")
    windows = np.lib.stride_tricks.sliding_window_view(pad, (kh, kw))
    return np.einsum("ijkl,kl->ij", windows, k[::-1, ::-1])


def make_image(n=16):
    yy, xx = np.mgrid[0:n, 0:n]
    circle = (xx - n / 2) ** 2 + (yy - n / 2) ** 2 < (n / 3) ** 2
    return circle.astype(float) * 200 + 20


SOBEL_X = np.array([[-1, 0, 1], [-2, 0, 2], [-1, 0, 1]], dtype=float)

img = make_image()
gx = convolve2d(img, SOBEL_X)
gy = convolve2d(img, SOBEL_X.T)
mag = np.hypot(gx, gy)
theta = np.rad2deg(np.arctan2(gy, gx)) % 180
edges = mag > 0.5 * mag.max()
print("edge pixels:", np.count_nonzero(edges))
for r in edges[::2]:
    print(" ".join("x" if v else "-" for v in r))
hist, bins = np.histogram(theta[edges], bins=4, range=(0, 180))
print("orientation histogram:", hist, bins)
out = np.clip(mag / mag.max() * 255, 0, 255).astype(np.uint8)
print(out.dtype, out.max(), out.min())
