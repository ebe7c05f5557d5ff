import numpy as np


def welch(x, fs, nperseg=64, overlap=32):
    win = np.hanning(nperseg)
    step = nperseg - overlap
    segs = np.lib.stride_tricks.sliding_window_view(x, nperseg)[::step]
    segs = segs - segs.mean(axis=1, keepdims=True)
    spec = np.abs(np.fft.rfft(segs * win, axis=1)) ** 2
    psd = spec.mean(axis=0) / (fs * (win**2).sum())
    psd[1:-1] *= 2
    return np.fft.rfftfreq(nperseg, 1 / fs), psd


def pink(n, rng):
    spectrum = np.fft.rfft(rng.standard_normal(n))
    f = np.fft.rfftfreq(n)
    f[0] = f[1]
    return np.fft.irfft(spectrum / np.sqrt(f), n)


rng = np.random.default_rng(14)
fs = 100.0
x = pink(512, rng)
x += 3 * np.sin(2 * np.pi * 25 * np.arange(512) / fs)
f, psd = welch(x, fs)
k = np.argmax(psd[5:]) + 5
print(f"peak at {f[k]:.2f} Hz, {10 * np.log10(psd[k]):.2f} dB")
mask = (f > 2) & (f < 40) & (np.abs(f - 25) > 5)
slope = np.polyfit(np.log10(f[mask]), np.log10(psd[mask]), 1)[0]
print(f"spectral slope {slope:.3f}")
bands = {"low": (0, 10), "mid": (10, 30), "high": (30, 50)}
for name, (lo, hi) in bands.items():
    sel = np.logical_and(f >= lo, f < hi)
    print(f"{name:5s} power {np.trapezoid(psd[sel], f[sel]):.5f}")
print("parseval", np.isclose(np.sum(np.abs(np.fft.fft(x)) ** 2) / len(x), np.sum(x**2)))
