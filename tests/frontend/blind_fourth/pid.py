from dataclasses import dataclass, replace
from enum import Enum, auto
import math
import numpy as np


class Mode(Enum):
    MANUAL = auto()
    AUTO = auto()


@dataclass(frozen=True)
class Gains:
    kp: float
    ki: float = 0.0
    kd: float = 0.0

    def scaled(self, s: float) -> "Gains":
        return replace(self, kp=self.kp * s)


class PID:
    def __init__(self, gains: Gains, dt: float, limits=(-10.0, 10.0)):
        self.gains, self.dt = gains, dt
        self.lo, self.hi = limits
        self.integral = 0.0
        self._last = None
        self.mode = Mode.AUTO

    def update(self, err):
        if self.mode is Mode.MANUAL:
            return 0.0
        self.integral += err * self.dt
        deriv = 0.0 if self._last is None else (err - self._last) / self.dt
        self._last = err
        g = self.gains
        u = g.kp * err + g.ki * self.integral + g.kd * deriv
        if u > self.hi or u < self.lo:
            self.integral -= err * self.dt  # anti windup
        return min(max(u, self.lo), self.hi)


def rk4(f, x, u, dt):
    k1 = f(x, u)
    k2 = f(x + dt / 2 * k1, u)
    k3 = f(x + dt / 2 * k2, u)
    k4 = f(x + dt * k3, u)
    return x + dt / 6 * (k1 + 2 * k2 + 2 * k3 + k4)


def pendulum(x, u, g=9.81, l=1.0, b=0.3):
    th, om = x
    return np.array([om, -g / l * math.sin(th) - b * om + u])


dt = 0.02
results = {}
for name, gains in {"p": Gains(12.0), "pd": Gains(12.0, 0.0, 4.0), "pid": Gains(12.0, 6.0, 4.0).scaled(1.5)}.items():
    pid = PID(gains, dt)
    x = np.array([0.0, 0.0])
    log = []
    for k in range(100):
        u = pid.update(0.5 - x[0])
        x = rk4(pendulum, x, u, dt)
        log.append((x[0], u))
    th, us = np.array(log).T
    results[name] = dict(final=th[-1], overshoot=th.max() - 0.5, effort=np.abs(us).sum() * dt)
for name, r in sorted(results.items()):
    print(f"{name:4s}", ", ".join(f"{k}={v:.4f}" for k, v in r.items()))
print(Mode.AUTO, Mode["MANUAL"].value, list(Mode))
