import numpy as np


def safe_inverse(A):
    try:
        return np.linalg.inv(A), "inv"
    except np.linalg.LinAlgError:
        return np.linalg.pinv(A), "pinv"


def cholesky_or_none(A):
    try:
        L = np.linalg.cholesky(A)
    except np.linalg.LinAlgError as e:
        print("cholesky failed:", e)
        return None
    return L


matrices = {
    "regular": np.array([[2.0, 1.0], [1.0, 3.0]]),
    "singular": np.array([[1.0, 2.0], [2.0, 4.0]]),
    "indefinite": np.array([[1.0, 2.0], [2.0, 1.0]]),
}
for name, A in matrices.items():
    inverse, how = safe_inverse(A)
    L = cholesky_or_none(A)
    print(f"{name:>10}: {how}", inverse.round(3).tolist(), "spd" if L is not None else "not spd")
