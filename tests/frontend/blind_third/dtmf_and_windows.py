import numpy as np

fs, n = 8000, 400
t = np.arange(n) / fs
rows, cols = [697, 770, 852, 941], [1209, 1336, 1477]
keys = ["123", "456", "789", "*0#"]


def tone(key):
    for r, line in enumerate(keys):
        c = line.find(key)
        if c >= 0:
            return np.sin(2 * np.pi * rows[r] * t) + np.sin(2 * np.pi * cols[c] * t)


def detect(sig):
    win = np.hanning(len(sig))
    spec = np.abs(np.fft.rfft(sig * win, 4096))
    freqs = np.fft.rfftfreq(4096, 1 / fs)

    def level(f):
        return spec[np.argmin(np.abs(freqs - f))]

    return keys[int(np.argmax([level(f) for f in rows]))][int(np.argmax([level(f) for f in cols]))]


noise = np.random.RandomState(3)
decoded = "".join(detect(tone(k) + 0.5 * noise.randn(n)) for k in "42#071")
print(decoded)
for name, w in {"hamming": np.hamming(16), "blackman": np.blackman(16), "bartlett": np.bartlett(16)}.items():
    enbw = len(w) * np.sum(w ** 2) / np.sum(w) ** 2
    print(f"{name:10s} ENBW {enbw:.4f} gain {w.mean():.4f}")
