import numpy as np


def equalize(img: np.ndarray) -> np.ndarray:
    hist = np.bincount(img.ravel(), minlength=256)
    cdf = hist.cumsum()
    cdf_min = cdf[cdf > 0][0]
    lut = np.round((cdf - cdf_min) / (img.size - cdf_min) * 255).clip(0, 255).astype(np.uint8)
    return lut[img]


def otsu(img):
    hist, _ = np.histogram(img, bins=256, range=(0, 256))
    p = hist / hist.sum()
    omega = np.cumsum(p)
    mu = np.cumsum(p * np.arange(256))
    mu_t = mu[-1]
    with np.errstate(divide="ignore", invalid="ignore"):
        sigma = (mu_t * omega - mu) ** 2 / (omega * (1 - omega))
    sigma[~np.isfinite(sigma)] = 0
    return int(np.argmax(sigma))


if __name__ == "__main__":
    rng = np.random.RandomState(8)
    dark = rng.normal(60, 10, size=(16, 16))
    bright = rng.normal(120, 15, size=(16, 16))
    img = np.hstack([dark, bright]).clip(0, 255).astype(np.uint8)
    eq = equalize(img)
    print("before: mean=%.2f std=%.2f" % (img.mean(), img.std()))
    print("after:  mean=%.2f std=%.2f" % (eq.mean(), eq.std()))
    th = otsu(img)
    print("threshold:", th)
    mask = img > th
    print("foreground fraction:", mask.mean())
    print(np.unique(mask, return_counts=True))
