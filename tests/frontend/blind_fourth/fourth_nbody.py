import numpy as np

G = 6.674e-11
BODIES = {
    "sun": (1.989e30, (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)),
    "earth": (5.972e24, (1.496e11, 0.0, 0.0), (0.0, 29780.0, 0.0)),
    "mars": (6.39e23, (-2.279e11, 0.0, 0.0), (0.0, -24070.0, 0.0)),
}
names, data = zip(*BODIES.items())
mass = np.array([d[0] for d in data])
pos = np.array([d[1] for d in data])
vel = np.array([d[2] for d in data])


def accelerations(pos):
    diff = pos[np.newaxis] - pos[:, np.newaxis]
    r2 = np.sum(diff**2, axis=-1)
    np.fill_diagonal(r2, np.inf)
    return G * np.einsum("ijk,ij,j->ik", diff, r2 ** -1.5, mass)


def energy(pos, vel):
    kin = 0.5 * np.sum(mass * np.sum(vel**2, axis=1))
    pot = 0.0
    n = len(mass)
    for i in range(n):
        for j in range(i + 1, n):
            pot -= G * mass[i] * mass[j] / np.linalg.norm(pos[i] - pos[j])
    return kin + pot


def leapfrog(pos, vel, dt, steps):
    acc = accelerations(pos)
    for step in range(steps):
        vel = vel + 0.5 * dt * acc
        pos = pos + dt * vel
        acc = accelerations(pos)
        vel += 0.5 * dt * acc
        if step % 10 == 0:
            yield step, pos.copy(), energy(pos, vel)


day = 86400.0
E0 = energy(pos, vel)
trace = []
for step, p, e in leapfrog(pos, vel, day, 60):
    drift = abs((e - E0) / E0)
    trace.append(drift)
    print(f"step {step:3d}  drift {drift:.3e}  earth x = {p[names.index('earth'), 0]:.4e}")
print("max drift below 1e-6:", max(trace) < 1e-6)
