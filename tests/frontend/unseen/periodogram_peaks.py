import numpy as np

fs = 200.0
n = 400
t = np.arange(n) / fs
rng = np.random.default_rng(8)
signal = 1.2 * np.sin(2 * np.pi * 12 * t) + 0.6 * np.cos(2 * np.pi * 31.5 * t + 0.3)
signal += 0.2 * rng.standard_normal(n)


def welch(x, fs, nperseg=128, overlap=0.5):
    step = int(nperseg * (1 - overlap))
    window = np.hanning(nperseg)
    scale = 1.0 / (fs * (window**2).sum())
    segments = []
    for start in range(0, len(x) - nperseg + 1, step):
        seg = x[start : start + nperseg]
        seg = (seg - seg.mean()) * window
        spec = np.abs(np.fft.rfft(seg)) ** 2 * scale
        spec[1:-1] *= 2
        segments.append(spec)
    return np.fft.rfftfreq(nperseg, 1 / fs), np.mean(segments, axis=0)


def find_peaks(y, height):
    return [i for i in range(1, len(y) - 1) if y[i - 1] < y[i] > y[i + 1] and y[i] >= height]


freqs, psd = welch(signal, fs)
peaks = find_peaks(psd, 0.1 * psd.max())
for p in sorted(peaks, key=lambda i: psd[i], reverse=True):
    print(f"{freqs[p]:6.2f} Hz  {10 * np.log10(psd[p]):7.2f} dB")
band = (freqs >= 8) & (freqs <= 16)
print("alpha power fraction: %.3f" % (np.trapezoid(psd[band], freqs[band]) / np.trapezoid(psd, freqs)))
