import numpy as np
from itertools import combinations

G = 6.674e-11


class Body:
    def __init__(self, name, mass, pos, vel):
        self.name = name
        self.mass = mass
        self.pos = np.array(pos, dtype=np.float64)
        self.vel = np.array(vel, dtype=np.float64)

    def __repr__(self):
        return f"Body({self.name}, m={self.mass:.2e})"


def accelerations(bodies):
    acc = {b.name: np.zeros(3) for b in bodies}
    for a, b in combinations(bodies, 2):
        r = b.pos - a.pos
        d3 = np.linalg.norm(r) ** 3
        acc[a.name] += G * b.mass * r / d3
        acc[b.name] -= G * a.mass * r / d3
    return acc


def energy(bodies):
    kin = sum(0.5 * b.mass * np.dot(b.vel, b.vel) for b in bodies)
    pot = 0.0
    for a, b in combinations(bodies, 2):
        pot -= G * a.mass * b.mass / np.linalg.norm(a.pos - b.pos)
    return kin + pot


bodies = [
    Body("sun", 1.989e30, [0, 0, 0], [0, 0, 0]),
    Body("earth", 5.972e24, [1.496e11, 0, 0], [0, 29780, 0]),
    Body("mars", 6.39e23, [0, 2.279e11, 0], [-24077, 0, 0]),
]
print(bodies)
e0 = energy(bodies)
dt = 86400.0
for day in range(30):
    acc = accelerations(bodies)
    for b in bodies:
        b.vel += acc[b.name] * dt
        b.pos += b.vel * dt
e1 = energy(bodies)
print(f"relative energy drift: {abs((e1 - e0) / e0):.3e}")
for b in bodies[1:]:
    print(f"{b.name:6s} {np.linalg.norm(b.pos) / 1.496e11:.4f} AU")
