# otsu(img: uint8[16, 16])
import numpy as np


def otsu(img):
    hist, bin_edges = np.histogram(img, bins=256, range=(0, 256))
    p = hist / hist.sum()
    omega = np.cumsum(p)
    mu = np.cumsum(p * np.arange(256))
    mu_t = mu[-1]
    with np.errstate(divide="ignore", invalid="ignore"):
        sigma_b = (mu_t * omega - mu) ** 2 / (omega * (1 - omega))
    sigma_b = np.nan_to_num(sigma_b, nan=0.0, posinf=0.0, neginf=0.0)
    t = np.argmax(sigma_b)
    return (img > t).astype(np.uint8) * 255, t
