# trajectory(initial: float64[4])
import numpy as np
from numpy import cos, sin

G, L1, L2, M1, M2 = 9.8, 1.0, 1.0, 1.0, 1.0


def derivs(state):
    th1, w1, th2, w2 = state
    delta = th2 - th1
    den1 = (M1 + M2) * L1 - M2 * L1 * cos(delta) ** 2
    a1 = (M2 * L1 * w1**2 * sin(delta) * cos(delta) + M2 * G * sin(th2) * cos(delta) + M2 * L2 * w2**2 * sin(delta) - (M1 + M2) * G * sin(th1)) / den1
    den2 = (L2 / L1) * den1
    a2 = (-M2 * L2 * w2**2 * sin(delta) * cos(delta) + (M1 + M2) * G * sin(th1) * cos(delta) - (M1 + M2) * L1 * w1**2 * sin(delta) - (M1 + M2) * G * sin(th2)) / den2
    return np.array([w1, a1, w2, a2])


def trajectory(initial, dt=0.02, n=50):
    states = np.empty((n + 1, 4))
    states[0] = initial
    for i in range(n):
        mid = states[i] + 0.5 * dt * derivs(states[i])
        states[i + 1] = states[i] + dt * derivs(mid)
    x1, y1 = L1 * sin(states[:, 0]), -L1 * cos(states[:, 0])
    return np.column_stack([x1, y1, x1 + L2 * sin(states[:, 2]), y1 - L2 * cos(states[:, 2])])
