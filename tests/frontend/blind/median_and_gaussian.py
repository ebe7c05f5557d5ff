import numpy as np
from numpy.lib.stride_tricks import sliding_window_view


def gaussian_kernel(size=5, sigma=1.0):
    ax = np.arange(-(size // 2), size // 2 + 1)
    g = np.exp(-(ax**2) / (2 * sigma**2))
    k = np.outer(g, g)
    return k / k.sum()


def filter2d(img, kernel, mode="reflect"):
    ph, pw = (s // 2 for s in kernel.shape)
    win = sliding_window_view(np.pad(img, ((ph, ph), (pw, pw)), mode=mode), kernel.shape)
    return np.einsum("ijkl,kl->ij", win, kernel)


def median(img, size=3):
    p = size // 2
    win = sliding_window_view(np.pad(img, p, mode="edge"), (size, size))
    return np.median(win, axis=(2, 3))


def bilateral(img, size=3, ss=1.0, sr=0.2):
    p = size // 2
    win = sliding_window_view(np.pad(img, p, mode="symmetric"), (size, size))
    spatial = gaussian_kernel(size, ss)
    weight = spatial * np.exp(-((win - img[..., None, None]) ** 2) / (2 * sr**2))
    return (weight * win).sum((-1, -2)) / weight.sum((-1, -2))


def psnr(a, b):
    mse = np.mean((a - b) ** 2)
    return np.inf if mse == 0 else 10 * np.log10(1.0 / mse)


rng = np.random.default_rng(21)
img = np.zeros((24, 24))
img[6:18, 6:18] = 0.8
img[10:14, :] += 0.1
noisy = img.copy()
sp = rng.random(img.shape)
noisy[sp < 0.05] = 0
noisy[sp > 0.95] = 1
for name, f in {"gaussian": lambda x: filter2d(x, gaussian_kernel()), "median": median, "bilateral": bilateral}.items():
    print(f"{name:10s} {psnr(f(noisy), img):6.2f} dB")
print("noisy      %6.2f dB" % psnr(noisy, img))
unsharp = np.clip(img + 1.5 * (img - filter2d(img, gaussian_kernel(3))), 0, 1)
print(unsharp[12, 3:9].round(3), psnr(img, img))
