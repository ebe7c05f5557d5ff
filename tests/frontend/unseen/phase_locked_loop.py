import numpy as np


class PLL:
    def __init__(self, fs, f0, bandwidth=5.0, damping=0.707):
        wn = 2 * np.pi * bandwidth
        self.fs = fs
        self.phase = 0.0
        self.freq = 2 * np.pi * f0 / fs
        self.kp = 2 * damping * wn / fs
        self.ki = (wn / fs) ** 2

    def update(self, sample: complex) -> float:
        error = np.angle(sample * np.exp(-1j * self.phase))
        self.freq += self.ki * error
        self.phase += self.freq + self.kp * error
        self.phase = (self.phase + np.pi) % (2 * np.pi) - np.pi
        return error


fs = 1000.0
n = np.arange(400)
rng = np.random.default_rng(21)
noise = (rng.standard_normal(n.size) + 1j * rng.standard_normal(n.size)) * 0.05
x = np.exp(1j * (2 * np.pi * 53.0 / fs * n + 0.8)) + noise
pll = PLL(fs, 50.0)
errors = np.array([pll.update(s) for s in x])
print("locked frequency: %.3f Hz" % (pll.freq * fs / (2 * np.pi)))
print("rms error, first and last 100:", [round(float(np.sqrt(np.mean(e**2))), 4) for e in (errors[:100], errors[-100:])])
print("locked:", bool(np.all(np.abs(errors[-50:]) < 0.3)))
