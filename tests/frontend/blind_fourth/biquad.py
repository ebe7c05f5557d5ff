import numpy as np


def design_lowpass(fc, fs, Q=1 / np.sqrt(2)):
    w0 = 2 * np.pi * fc / fs
    alpha = np.sin(w0) / (2 * Q)
    cosw = np.cos(w0)
    b = np.array([(1 - cosw) / 2, 1 - cosw, (1 - cosw) / 2])
    a = np.array([1 + alpha, -2 * cosw, 1 - alpha])
    return b / a[0], a / a[0]


class Biquad:
    """Direct form II transposed."""

    __slots__ = ("b", "a", "z")

    def __init__(self, b, a):
        self.b, self.a = b, a
        self.z = [0.0, 0.0]

    def __call__(self, x):
        b, a, z = self.b, self.a, self.z
        y = b[0] * x + z[0]
        z[0] = b[1] * x - a[1] * y + z[1]
        z[1] = b[2] * x - a[2] * y
        return y

    def reset(self):
        self.z[:] = [0.0, 0.0]


fs = 8000
t = np.arange(0, 0.02, 1 / fs)
sig = np.sin(2 * np.pi * 440 * t) + 0.5 * np.sin(2 * np.pi * 3000 * t)
b, a = design_lowpass(1000, fs)
filt = Biquad(b, a)
out = np.empty_like(sig)
for n, s in enumerate(sig):
    out[n] = filt(s)
filt.reset()
rms = lambda v: np.sqrt(np.mean(np.square(v)))
spectrum = np.abs(np.fft.rfft(out * np.hanning(len(out))))
freqs = np.fft.rfftfreq(len(out), d=1 / fs)
peak = freqs[np.argmax(spectrum)]
db = 20 * np.log10(spectrum + 1e-12)
print("peak at %.1f Hz" % peak)
print("rms in {:.4f}, out {:.4f}".format(rms(sig), rms(out)))
top = np.argsort(db)[::-1][:5]
for i in top:
    print(f"{freqs[i]:8.2f} Hz {db[i]:7.2f} dB")
