import numpy as np
from math import cos, sin, pi, isclose, hypot
poly = [(cos(2*pi*k/5), sin(2*pi*k/5)) for k in range(5)]
xs, ys = map(np.array, zip(*poly))
area = 0.5 * abs(np.dot(xs, np.roll(ys, -1)) - np.dot(ys, np.roll(xs, -1)))
per = sum(hypot(x2-x1, y2-y1) for (x1, y1), (x2, y2) in zip(poly, poly[1:] + poly[:1]))
def inside(px, py):
    res = False
    j = len(poly) - 1
    for i in range(len(poly)):
        xi, yi = poly[i]; xj, yj = poly[j]
        if (yi > py) != (yj > py) and px < (xj - xi) * (py - yi) / (yj - yi) + xi:
            res = not res
        j = i
    return res
print(f"{area:.6f} {per:.6f}", inside(0, 0), inside(1, 1), isclose(area, 2.3776412907378837))
