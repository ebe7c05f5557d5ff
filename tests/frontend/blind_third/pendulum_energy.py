import numpy as np


def deriv(state, t, g=9.81, L=1.0, damping=0.1):
    theta, omega = state
    return np.array([omega, -g / L * np.sin(theta) - damping * omega])


def rk4(f, y, t, h):
    k1 = f(y, t)
    k2 = f(y + h / 2 * k1, t + h / 2)
    k3 = f(y + h / 2 * k2, t + h / 2)
    k4 = f(y + h * k3, t + h)
    return y + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)


y = np.array([np.pi / 3, 0.0])
h, t = 0.01, 0.0
crossings = []
traj = np.empty((1000, 2))
for i in range(1000):
    new = rk4(deriv, y, t, h)
    if y[0] < 0 <= new[0]:
        crossings.append(t - y[0] * h / (new[0] - y[0]))
    y, t = new, t + h
    traj[i] = y
energy = 0.5 * traj[:, 1] ** 2 + 9.81 * (1 - np.cos(traj[:, 0]))
print("period ~", np.round(np.diff(crossings).mean(), 4), "from", len(crossings), "crossings")
print("energy", np.round(energy[[0, 499, 999]], 4))
