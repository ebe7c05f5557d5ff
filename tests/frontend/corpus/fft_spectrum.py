# spectrum(x: float64[64])
import numpy as np


def spectrum(x, fs=100.0):
    X = np.fft.rfft(x)
    freqs = np.fft.rfftfreq(len(x), d=1 / fs)
    mag = np.abs(X) / len(x)
    peak = freqs[np.argmax(mag[1:]) + 1]
    X[freqs > 20] = 0
    smooth = np.fft.irfft(X, n=len(x))
    return mag, peak, smooth
