# detect(samples: float64[205])
import numpy as np

DTMF_LOW = [697, 770, 852, 941]
DTMF_HIGH = [1209, 1336, 1477, 1633]
KEYS = ["123A", "456B", "789C", "*0#D"]


def goertzel(samples, freq, rate=8000):
    n = len(samples)
    k = int(0.5 + n * freq / rate)
    w = 2 * np.pi * k / n
    coeff = 2 * np.cos(w)
    s1 = s2 = 0.0
    for s in samples:
        s0 = s + coeff * s1 - s2
        s2, s1 = s1, s0
    return s1**2 + s2**2 - coeff * s1 * s2


def detect(samples):
    low = np.array([goertzel(samples, f) for f in DTMF_LOW])
    high = np.array([goertzel(samples, f) for f in DTMF_HIGH])
    return low, high, low.argmax() * 4 + high.argmax()
