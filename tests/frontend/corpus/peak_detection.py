# find_peaks(x: float64[80])
import numpy as np


def find_peaks(x, threshold=0.5):
    is_peak = np.r_[False, (x[1:-1] > x[:-2]) & (x[1:-1] > x[2:]), False]
    is_peak &= x > threshold
    idx = np.flatnonzero(is_peak)
    return idx, x[idx]
