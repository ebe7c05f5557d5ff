import numpy as np
from dataclasses import dataclass

G = 4 * np.pi**2


@dataclass
class Body:
    name: str
    mass: float
    pos: np.ndarray
    vel: np.ndarray


bodies = [
    Body("sun", 1.0, np.array([0.0, 0.0]), np.array([0.0, 0.0])),
    Body("earth", 3e-6, np.array([1.0, 0.0]), np.array([0.0, 2 * np.pi])),
    Body("mars", 3.2e-7, np.array([1.524, 0.0]), np.array([0.0, 5.09])),
]


def accelerations(bodies):
    acc = []
    for b in bodies:
        a = np.zeros(2)
        for o in bodies:
            if o is b:
                continue
            r = o.pos - b.pos
            a += G * o.mass * r / np.sqrt(r @ r) ** 3
        acc.append(a)
    return acc


def energy(bodies):
    kin = sum(0.5 * b.mass * b.vel.dot(b.vel) for b in bodies)
    pot = 0.0
    for i, b in enumerate(bodies):
        for o in bodies[i + 1:]:
            pot -= G * b.mass * o.mass / np.linalg.norm(b.pos - o.pos)
    return kin + pot


e0 = energy(bodies)
dt, steps = 0.005, 200
acc = accelerations(bodies)
for step in range(steps):
    for b, a in zip(bodies, acc):
        b.vel = b.vel + 0.5 * dt * a
        b.pos = b.pos + dt * b.vel
    acc = accelerations(bodies)
    for b, a in zip(bodies, acc):
        b.vel += 0.5 * dt * a
    if (step + 1) % 100 == 0:
        print(f"t={dt * (step + 1):.2f}", {b.name: tuple(b.pos.round(3).tolist()) for b in bodies})
print(f"relative energy drift {abs((energy(bodies) - e0) / e0):.2e}")
