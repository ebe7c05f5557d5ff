# smooth(y: float64[50])
import numpy as np


def coefficients(window, order):
    half = window // 2
    A = np.vander(np.arange(-half, half + 1), order + 1, increasing=True).astype(float)
    return np.linalg.pinv(A)[0]


def smooth(y, window=7, order=2):
    c = coefficients(window, order)
    half = window // 2
    first = y[0] - np.abs(y[1 : half + 1][::-1] - y[0])
    last = y[-1] + np.abs(y[-half - 1 : -1][::-1] - y[-1])
    padded = np.concatenate((first, y, last))
    return np.convolve(c[::-1], padded, mode="valid")
