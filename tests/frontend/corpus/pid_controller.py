# simulate(setpoint: float64[60])
import numpy as np
from dataclasses import dataclass, field


@dataclass
class PID:
    kp: float
    ki: float
    kd: float
    limit: float = 10.0
    integral: float = 0.0
    previous: float = 0.0

    def step(self, error, dt):
        self.integral += error * dt
        derivative = (error - self.previous) / dt
        self.previous = error
        out = self.kp * error + self.ki * self.integral + self.kd * derivative
        return np.clip(out, -self.limit, self.limit)


def simulate(setpoint):
    pid = PID(2.0, 0.5, 0.1)
    y = 0.0
    ys = np.zeros_like(setpoint)
    us = np.empty_like(setpoint)
    dt = 0.05
    for k, r in enumerate(setpoint):
        u = pid.step(r - y, dt)
        y = y + dt * (-y + u)
        ys[k] = y
        us[k] = u
    overshoot = (ys.max() - setpoint[-1]) / abs(setpoint[-1])
    return ys, us, overshoot
