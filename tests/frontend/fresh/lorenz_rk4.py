"""Integrate the Lorenz system with a fixed-step Runge-Kutta method."""
import numpy as np

SIGMA, RHO, BETA = 10.0, 28.0, 8.0 / 3.0


def lorenz(state):
    x, y, z = state
    return np.array([SIGMA * (y - x), x * (RHO - z) - y, x * y - BETA * z])


def rk4_step(f, y, dt):
    k1 = f(y)
    k2 = f(y + 0.5 * dt * k1)
    k3 = f(y + 0.5 * dt * k2)
    k4 = f(y + dt * k3)
    return y + dt / 6.0 * (k1 + 2 * k2 + 2 * k3 + k4)


def simulate(y0, dt=0.01, steps=200):
    traj = np.empty((steps + 1, 3))
    traj[0] = y0
    for i in range(steps):
        traj[i + 1] = rk4_step(lorenz, traj[i], dt)
    return traj


if __name__ == "__main__":
    traj = simulate(np.array([1.0, 1.0, 1.0]))
    print("final state:", traj[-1])
    print("mean:", traj.mean(axis=0).round(4))
    print("z range: {:.3f} .. {:.3f}".format(traj[:, 2].min(), traj[:, 2].max()))
    crossings = np.sum(np.diff(np.sign(traj[:, 0])) != 0)
    print(f"lobe switches: {crossings}")
