import math


class PID:
    def __init__(self, kp, ki, kd, dt, limits=(-10, 10)):
        self.kp, self.ki, self.kd, self.dt = kp, ki, kd, dt
        self.lo, self.hi = limits
        self.integral = 0.0
        self.previous = None

    def __call__(self, error):
        self.integral += error * self.dt
        deriv = 0.0 if self.previous is None else (error - self.previous) / self.dt
        self.previous = error
        u = self.kp * error + self.ki * self.integral + self.kd * deriv
        return min(max(u, self.lo), self.hi)


def biquad_lowpass(fc, fs, q=math.sqrt(0.5)):
    w0 = 2 * math.pi * fc / fs
    alpha = math.sin(w0) / (2 * q)
    c = math.cos(w0)
    b = [(1 - c) / 2, 1 - c, (1 - c) / 2]
    a = [1 + alpha, -2 * c, 1 - alpha]
    return [v / a[0] for v in b], [1.0] + [v / a[0] for v in a[1:]]


b, a = biquad_lowpass(2.0, 100.0)
state = [0.0] * 4
pid, temp, dt = PID(2.0, 0.8, 0.1, 0.1), 20.0, 0.1
for k in range(150):
    target = 50 if k < 100 else 35
    x = target - temp
    y = b[0] * x + b[1] * state[0] + b[2] * state[1] - a[1] * state[2] - a[2] * state[3]
    state = [x, state[0], y, state[2]]
    u = pid(y)
    temp += dt * (u - 0.1 * (temp - 20))
    if k % 25 == 24:
        print(f"t={k * dt:5.1f}s temp={temp:7.3f} u={u:7.3f}")
