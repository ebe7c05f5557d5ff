import numpy as np
fs = 100
t = np.arange(0, 1, 1 / fs)
x = np.sin(2 * np.pi * 5 * t) + 0.5 * np.sin(2 * np.pi * 20 * t)
X = np.fft.rfft(x * np.hanning(len(x)))
f = np.fft.rfftfreq(len(x), 1 / fs)
pk = np.argsort(np.abs(X))[::-1][:2]
print(sorted(f[pk].tolist()))
h = np.sinc(2 * 0.1 * (np.arange(21) - 10)) * np.hamming(21)
h /= h.sum()
y = np.convolve(x, h, mode="same")
print(np.round(y[::20], 4))
def fft(a):
    n = len(a)
    if n == 1: return a
    e, o = fft(a[::2]), fft(a[1::2])
    tw = np.exp(-2j * np.pi * np.arange(n // 2) / n) * o
    return np.concatenate([e + tw, e - tw])
z = np.random.RandomState(0).randn(16)
print(np.allclose(fft(z.astype(complex)), np.fft.fft(z)))
env = np.abs(np.fft.ifft(np.fft.fft(x) * np.r_[1, 2 * np.ones(49), 1, np.zeros(49)]))
print(env.max().round(4), np.unwrap(np.array([0, 3, 6.5, -1])).round(3))
print(np.trapezoid(x, t).round(6), np.gradient(x, t)[:3].round(4), np.diff(x, n=2)[:2].round(5))
dz = np.where(np.diff(np.signbit(x)))[0]
print(len(dz), dz[:4], np.correlate([1, 2, 3], [0, 1, 0.5], "full"))
