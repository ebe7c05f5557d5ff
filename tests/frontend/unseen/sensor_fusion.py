"""Complementary filter against a scalar Kalman filter for a tilt angle."""
from dataclasses import dataclass

import numpy as np


@dataclass
class Config:
    dt: float = 0.01
    n: int = 300
    gyro_bias: float = 0.3
    gyro_noise: float = 0.2
    acc_noise: float = 2.0


def make_data(cfg, seed):
    rng = np.random.default_rng(seed)
    t = np.arange(cfg.n) * cfg.dt
    angle = 20 * np.sin(2 * np.pi * 0.5 * t)
    rate = np.gradient(angle, cfg.dt)
    gyro = rate + cfg.gyro_bias + cfg.gyro_noise * rng.standard_normal(cfg.n)
    acc = angle + cfg.acc_noise * rng.standard_normal(cfg.n)
    return t, angle, gyro, acc


def complementary(gyro, acc, dt, alpha=0.98):
    est = np.empty_like(acc)
    est[0] = acc[0]
    for k in range(1, len(acc)):
        est[k] = alpha * (est[k - 1] + gyro[k] * dt) + (1 - alpha) * acc[k]
    return est


def kalman(gyro, acc, dt, q=0.02, r=4.0):
    x, p = acc[0], 1.0
    out = []
    for w, z in zip(gyro, acc):
        x += w * dt
        p += q
        k = p / (p + r)
        x += k * (z - x)
        p *= 1 - k
        out.append(x)
    return np.array(out)


cfg = Config()
t, truth, gyro, acc = make_data(cfg, 3)
for name, est in [("acc only", acc), ("complementary", complementary(gyro, acc, cfg.dt)), ("kalman", kalman(gyro, acc, cfg.dt))]:
    rmse = np.sqrt(np.mean((est - truth) ** 2))
    print("{:<15s} rmse = {:6.3f} deg  max = {:6.3f}".format(name, rmse, np.max(np.abs(est - truth))))
print(cfg)
