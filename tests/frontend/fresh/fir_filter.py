import numpy as np


def sinc_lowpass(cutoff, n_taps):
    n = np.arange(n_taps) - (n_taps - 1) / 2
    h = np.sinc(2 * cutoff * n) * np.hamming(n_taps)
    return h / h.sum()


def apply_filter(x, h):
    return np.convolve(x, h, mode="same")


def rms(x):
    return np.sqrt(np.mean(np.square(x)))


fs = 200.0
t = np.arange(256) / fs
low = np.sin(2 * np.pi * 5 * t)
high = 0.5 * np.sin(2 * np.pi * 60 * t)
x = low + high
h = sinc_lowpass(20 / fs, 31)
y = apply_filter(x, h)
print("taps:", len(h), "dc gain:", h.sum().round(6))
print("rms in: %.4f out: %.4f" % (rms(x), rms(y)))
print("residual of the passband: %.4f" % rms((y - low)[20:-20]))
H = np.fft.fft(h, 64)
mag_db = 20 * np.log10(np.abs(H[:33]) + 1e-12)
print("stopband attenuation: %.1f dB" % -mag_db[20:].max())
