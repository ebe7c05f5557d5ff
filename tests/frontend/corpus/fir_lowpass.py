# filter_signal(x: float64[128])
import numpy as np


def design(n_taps, cutoff):
    n = np.arange(n_taps) - (n_taps - 1) / 2
    h = np.sinc(2 * cutoff * n)
    h *= np.hamming(n_taps)
    return h / h.sum()


def filter_signal(x):
    h = design(21, 0.1)
    y = np.convolve(x, h, mode="same")
    decimated = y[::4]
    rms_in, rms_out = np.sqrt(np.mean(x**2)), np.sqrt(np.mean(y**2))
    return y, decimated, 20 * np.log10(rms_out / rms_in)
