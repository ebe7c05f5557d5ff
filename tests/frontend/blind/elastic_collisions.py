import numpy as np

rng = np.random.default_rng(13)
N, BOX, R, DT = 12, 10.0, 0.4, 0.05
pos = np.array([[1.5 + 2 * (i % 4), 1.5 + 3 * (i // 4)] for i in range(N)], dtype=float)
vel = rng.normal(0, 1.5, (N, 2))
e0 = 0.5 * (vel**2).sum()
bounces = hits = 0
for step in range(60):
    pos += vel * DT
    for axis in range(2):
        low, high = pos[:, axis] < R, pos[:, axis] > BOX - R
        out = low | high
        vel[out, axis] *= -1
        pos[:, axis] = np.clip(pos[:, axis], R, BOX - R)
        bounces += out.sum()
    d = pos[:, None] - pos[None]
    dist = np.sqrt((d**2).sum(-1))
    i, j = np.where(np.triu(dist < 2 * R, k=1))
    for a, b in zip(i, j):
        n = pos[a] - pos[b]
        n /= np.linalg.norm(n)
        rel = (vel[a] - vel[b]) @ n
        if rel < 0:
            vel[a] -= rel * n
            vel[b] += rel * n
            hits += 1
print("wall bounces", bounces, "collisions", hits)
print("energy kept:", np.isclose(0.5 * (vel**2).sum(), e0))
speed = np.linalg.norm(vel, axis=1)
h, e = np.histogram(speed, bins=4, range=(0, 4))
for n, lo in zip(h, e):
    print(f"{lo:.1f} {'*' * n}")
print(np.sort(speed)[-3:].round(4))
