"""Floats of arrays that decide: loops, orders, keys, sizes; they are known while the source is read."""

import numpy as np

rng = np.random.default_rng(0)
A = rng.normal(size=(6, 6))
A = A @ A.T + 6 * np.eye(6)
b = rng.normal(size=6)
x = np.zeros(6)
hist = []
r = b - A @ x
while float(np.linalg.norm(r)) > 1e-6:
    x = x + 0.05 * r
    r = b - A @ x
    hist.append(float(np.linalg.norm(r)))
    if len(hist) > 200:
        break
print(len(hist), [round(h, 6) for h in hist[:3]])
best, where = float("inf"), None
for i in range(20):
    v = float(np.sin(A[i % 6, i // 6]))
    if v < best:
        best, where = v, i
print(where, f"{best:.4f}")
d = {}
for i in range(6):
    k = round(float(b[i]))
    d.setdefault(k, []).append(i)
print(sorted(d.items()))
lst = sorted(range(6), key=lambda i: float(b[i]))
print(lst, max(range(6), key=lambda i: float(b[i])))
m = min(float(v) for v in b)
s = sum(float(v) for v in b)
n = int(float(np.abs(b).sum()) * 10)
print(n, np.zeros(n).shape, round(m, 3), round(s, 3), bool(s > 0))
cdf = 0.0
for i, p in enumerate(np.abs(b) / np.abs(b).sum()):
    cdf += float(p)
    if cdf > 0.5:
        print("median", i)
        break
name = {True: "big", False: "small"}[float(b[0]) > 0]
print(name, "x" * int(float(3.2 + b[0] * 0)))
