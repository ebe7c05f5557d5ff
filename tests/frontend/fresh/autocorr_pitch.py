import numpy as np

sr = 1000
f0 = 40
t = np.arange(0, 0.3, 1 / sr)
np.random.seed(7)
x = np.sign(np.sin(2 * np.pi * f0 * t)) + 0.1 * np.random.randn(len(t))
x -= x.mean()

ac = np.correlate(x, x, mode="full")
ac = ac[len(ac) // 2:]
ac /= ac[0]

d = np.diff(ac)
start = np.where(d > 0)[0][0]
peak = np.argmax(ac[start:]) + start
print("estimated pitch: {:.2f} Hz".format(sr / peak))

window = np.hanning(len(x))
X = np.abs(np.fft.rfft(x * window))
f = np.fft.rfftfreq(len(x), 1 / sr)
print("fft pitch: {:.2f} Hz".format(f[X.argmax()]))
zero_crossings = ((x[:-1] * x[1:]) < 0).sum()
print("zero crossing rate:", zero_crossings / len(t))
