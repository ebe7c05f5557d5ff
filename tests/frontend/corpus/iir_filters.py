# cascade(x: float32[64], sos: float32[3, 6])
import numpy as np


def biquad(x, b, a):
    y = np.zeros_like(x)
    z1 = z2 = np.float32(0)
    for n in range(len(x)):
        y[n] = b[0] * x[n] + z1
        z1 = b[1] * x[n] - a[1] * y[n] + z2
        z2 = b[2] * x[n] - a[2] * y[n]
    return y


def cascade(x, sos):
    sos = sos / np.abs(sos).sum(axis=1, keepdims=True)
    for section in sos:
        b, a = section[:3], section[3:]
        a = np.concatenate([np.ones(1, a.dtype), a[1:]])
        x = biquad(x, b, a)
    env = np.empty_like(x)
    level = np.float32(0)
    for i, v in enumerate(np.abs(x)):
        coef = 0.5 if v > level else 0.05
        level = level + np.float32(coef) * (v - level)
        env[i] = level
    return x, env, 20 * np.log10(np.maximum(env, 1e-5))
