import numpy as np

fs = 128
T = 1.0
t = np.arange(0, T, 1 / fs)
signal = 1.5 * np.sin(2 * np.pi * 10 * t) + 0.7 * np.sin(2 * np.pi * 25 * t + np.pi / 4)
rng = np.random.default_rng(0)
noisy = signal + 0.2 * rng.standard_normal(t.size)

spectrum = np.fft.rfft(noisy)
freqs = np.fft.rfftfreq(noisy.size, d=1 / fs)
amplitude = 2 * np.abs(spectrum) / noisy.size
peaks = [i for i in range(1, len(amplitude) - 1)
         if amplitude[i] > amplitude[i - 1] and amplitude[i] > amplitude[i + 1] and amplitude[i] > 0.3]
for p in peaks:
    print(f"peak at {freqs[p]:.1f} Hz, amplitude {amplitude[p]:.3f}, phase {np.angle(spectrum[p]):.3f}")

# low-pass filter in the frequency domain
filtered = spectrum.copy()
filtered[freqs > 15] = 0
clean = np.fft.irfft(filtered, n=noisy.size)
print("energy before", np.sum(noisy**2), "after", np.sum(clean**2))
# Parseval
full = np.fft.fft(noisy)
assert np.isclose(np.sum(noisy**2), np.sum(np.abs(full) ** 2) / noisy.size)
