import numpy as np

dt = np.dtype([("name", "U10"), ("mass", "f8"), ("charge", "i4")])
particles = np.array([("electron", 9.109e-31, -1), ("proton", 1.6726e-27, 1), ("neutron", 1.6749e-27, 0)], dtype=dt)
print(particles["name"])
heavy = particles[particles["mass"] > 1e-28]
print(heavy["name"].tolist(), heavy["charge"].sum())
order = np.sort(particles, order="charge")
print([p["name"] for p in order])
for p in particles:
    print(f"{p['name']:>10s} {p['mass']:.3e} {p['charge']:+d}")
particles["charge"] *= 2
print(particles["charge"])
