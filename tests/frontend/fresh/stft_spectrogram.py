import numpy as np
from numpy.fft import rfft, rfftfreq


def frames(x, size, hop):
    n = 1 + (len(x) - size) // hop
    return np.stack([x[i * hop:i * hop + size] for i in range(n)])


def stft(x, size=64, hop=32):
    w = np.hanning(size)
    return rfft(frames(x, size, hop) * w, axis=-1)


def chirp(t, f0, f1):
    k = (f1 - f0) / t[-1]
    return np.cos(2 * np.pi * (f0 * t + 0.5 * k * t**2))


if __name__ == "__main__":
    fs = 512
    t = np.linspace(0, 1, fs, endpoint=False)
    S = stft(chirp(t, 20, 200))
    power = (S * S.conj()).real
    db = 10 * np.log10(power + 1e-10)
    f = rfftfreq(64, 1 / fs)
    ridge = f[power.argmax(axis=1)]
    print("frames x bins:", S.shape, S.dtype)
    print("ridge:", ridge.astype(int).tolist())
    print("monotone:", bool(np.all(np.diff(ridge) >= 0)))
    print(f"dynamic range {np.ptp(db):.1f} dB")
