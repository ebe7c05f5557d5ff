import numpy as np

particle = np.dtype([("pos", np.float64, 2), ("vel", np.float64, (2,)), ("mass", "f4"), ("id", np.int32), ("alive", "?")])


def make(n, rng):
    p = np.zeros(n, dtype=particle)
    p["pos"] = rng.uniform(-1, 1, (n, 2))
    p["vel"] = rng.normal(0, 0.5, (n, 2))
    p["mass"] = rng.choice([1.0, 2.0, 4.0], n)
    p["id"] = np.arange(n)
    p["alive"] = True
    return p


def step(p, dt=0.05):
    p["vel"][:, 1] -= 9.8 * dt
    p["pos"] += p["vel"] * dt
    below = p["pos"][:, 1] < -1
    p["pos"][below, 1] = -2 - p["pos"][below, 1]
    p["vel"][below, 1] *= -0.8
    p["alive"] &= np.abs(p["pos"][:, 0]) < 2
    return p


rng = np.random.default_rng(99)
ps = make(6, rng)
print(particle.names, particle.itemsize, particle["pos"].shape, ps.dtype.fields["mass"][0])
for _ in range(20):
    ps = step(ps)
energy = 0.5 * ps["mass"] * (ps["vel"] ** 2).sum(axis=1)
print("energy", np.round(energy, 4))
for row in np.sort(ps, order=["mass", "id"]):
    print(f"{row['id']:>2d} m={row['mass']:.0f} y={row['pos'][1]:+.3f} {'ok' if row['alive'] else 'gone'}")
heavy = ps[ps["mass"] >= 2]
print(len(heavy), heavy["id"].tolist(), ps[0]["id"], ps[["id", "mass"]][:2])
people = np.array([("Rex", 9, 81.0), ("Fido", 3, 27.0)], dtype=[("name", "U10"), ("age", "i4"), ("weight", "f4")])
people["age"] += 1
people[0] = ("Max", 5, 60.5)
print(people, people["name"], people.dtype)
print(np.rec.array(people).age if hasattr(np, "rec") else None)
