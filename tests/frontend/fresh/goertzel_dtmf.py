"""DTMF detection with the Goertzel algorithm."""
import numpy as np

KEYS = {
    (697, 1209): "1", (697, 1336): "2", (697, 1477): "3",
    (770, 1209): "4", (770, 1336): "5", (770, 1477): "6",
    (852, 1209): "7", (852, 1336): "8", (852, 1477): "9",
    (941, 1336): "0",
}
ROWS = [697, 770, 852, 941]
COLS = [1209, 1336, 1477]
FS = 8000
N = 205


def tone(key, n=N, fs=FS):
    for (lo, hi), k in KEYS.items():
        if k == key:
            t = np.arange(n) / fs
            return np.sin(2 * np.pi * lo * t) + np.sin(2 * np.pi * hi * t)
    raise KeyError(key)


def goertzel(x, f, fs=FS):
    w = 2 * np.pi * f / fs
    coeff = 2 * np.cos(w)
    s_prev = s_prev2 = 0.0
    for sample in x:
        s = sample + coeff * s_prev - s_prev2
        s_prev2, s_prev = s_prev, s
    return s_prev2**2 + s_prev**2 - coeff * s_prev * s_prev2


def detect(x):
    row = max(ROWS, key=lambda f: goertzel(x, f))
    col = max(COLS, key=lambda f: goertzel(x, f))
    return KEYS.get((row, col), "?")


def main():
    rng = np.random.default_rng(1)
    number = "4105"
    decoded = ""
    for d in number:
        x = tone(d) + rng.normal(0, 0.3, N)
        decoded += detect(x)
    print("sent   ", number)
    print("decoded", decoded)
    assert decoded == number


if __name__ == "__main__":
    main()
