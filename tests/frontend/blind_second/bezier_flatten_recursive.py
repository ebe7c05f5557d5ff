import numpy as np


def split(ctrl, t=0.5):
    left, right = [ctrl[0]], [ctrl[-1]]
    pts = ctrl
    while len(pts) > 1:
        pts = (1 - t) * pts[:-1] + t * pts[1:]
        left.append(pts[0])
        right.append(pts[-1])
    return np.array(left), np.array(right[::-1])


def flat(ctrl, tol):
    chord = ctrl[-1] - ctrl[0]
    n = np.array([-chord[1], chord[0]]) / (np.hypot(*chord) + 1e-12)
    return np.abs((ctrl[1:-1] - ctrl[0]) @ n).max() < tol


def flatten(ctrl, tol=0.05, depth=0):
    if depth > 8 or flat(ctrl, tol):
        return [ctrl[0], ctrl[-1]]
    a, b = split(ctrl)
    return flatten(a, tol, depth + 1)[:-1] + flatten(b, tol, depth + 1)


curve = np.array([[0.0, 0], [1, 3], [3, 3], [4, 0]])
for tol in (0.5, 0.1, 0.01):
    line = np.array(flatten(curve, tol))
    length = np.sum(np.linalg.norm(np.diff(line, axis=0), axis=1))
    print(f"tol={tol:<5} segments={len(line) - 1:2d} length={length:.5f}")
t = np.linspace(0, 1, 5)[:, None]
bern = (1 - t) ** 3 * curve[0] + 3 * (1 - t) ** 2 * t * curve[1] + 3 * (1 - t) * t**2 * curve[2] + t**3 * curve[3]
print(bern.round(4).tolist())
print("bbox", line.min(axis=0), line.max(axis=0).round(3))
