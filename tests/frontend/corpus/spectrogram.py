# stft(signal: float64[256])
import numpy as np


def frames(x, size, hop):
    n = 1 + (len(x) - size) // hop
    idx = np.arange(size)[None, :] + hop * np.arange(n)[:, None]
    return x[idx]


def stft(signal, size=64, hop=32):
    win = np.hanning(size)
    f = frames(signal, size, hop) * win
    k = np.arange(size // 2 + 1)
    ang = -2 * np.pi * np.outer(np.arange(size), k) / size
    re, im = f @ np.cos(ang), f @ np.sin(ang)
    power = re**2 + im**2
    db = 10 * np.log10(np.maximum(power, 1e-10))
    return db, k[np.argmax(power.mean(axis=0))]
