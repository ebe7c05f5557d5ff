# compress(img: float64[12, 10])
import numpy as np


def compress(img, ranks=(1, 2, 5)):
    U, s, Vt = np.linalg.svd(img, full_matrices=False)
    energy = np.cumsum(s**2) / np.sum(s**2)
    errors = {}
    for r in ranks:
        approx = (U[:, :r] * s[:r]) @ Vt[:r]
        errors[f"rank_{r}"] = np.linalg.norm(img - approx) / np.linalg.norm(img)
    errors["energy"] = energy
    return errors
