import numpy as np

r = np.linspace(2.8, 4.0, 7)
x = np.full_like(r, 0.5)
lyap = np.zeros_like(r)
for i in range(600):
    x = r * x * (1 - x)
    if i >= 100:
        lyap += np.log(np.abs(r * (1 - 2 * x)) + 1e-300)
lyap /= 500
orbits = []
for i in range(64):
    x = r * x * (1 - x)
    orbits.append(x)
orbits = np.array(orbits)
for rv, ly, col in zip(r, lyap, orbits.T):
    period = len(np.unique(np.round(col, 4)))
    kind = "chaos" if ly > 0 else f"period {period}"
    print(f"r={rv:.1f} {kind}")


def feigenbaum(levels):
    a1, a0, d = 1.0, 0.0, 3.2
    for i in range(2, levels):
        a = a1 + (a1 - a0) / d
        for _ in range(6):
            xx = yy = 0.0
            for _ in range(1 << i):
                yy = 1 - 2 * yy * xx
                xx = a - xx * xx
            a -= xx / yy
        d = (a1 - a0) / (a - a1)
        a0, a1 = a1, a
        yield d


print([round(d, 5) for d in feigenbaum(6)])
