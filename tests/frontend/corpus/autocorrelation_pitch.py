# pitch(x: float64[200])
import numpy as np


def pitch(x, fs=8000, fmin=80, fmax=400):
    x = x - x.mean()
    r = np.correlate(x, x, mode="full")[len(x) - 1 :]
    r = r / r[0]
    lo, hi = int(fs / fmax), min(int(fs / fmin), len(r) - 1)
    lag = lo + np.argmax(r[lo:hi])
    return fs / lag, r[:hi]
