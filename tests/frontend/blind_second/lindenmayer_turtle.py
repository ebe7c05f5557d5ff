import numpy as np
from functools import reduce


def rewrite(axiom, rules, n):
    return reduce(lambda s, _: "".join(rules.get(c, c) for c in s), range(n), axiom)


def draw(commands, angle):
    pos, heading, stack = np.zeros(2), 90.0, []
    points = [pos.copy()]
    for c in commands:
        if c in "FG":
            rad = np.deg2rad(heading)
            pos = pos + np.array([np.cos(rad), np.sin(rad)])
            points.append(pos.copy())
        elif c == "+":
            heading += angle
        elif c == "-":
            heading -= angle
        elif c == "[":
            stack.append((pos, heading))
        elif c == "]":
            pos, heading = stack.pop()
    return np.round(np.array(points), 6)


systems = {
    "koch": ("F", {"F": "F+F-F-F+F"}, 90, 2),
    "sierpinski": ("F-G-G", {"F": "F-G+F+G-F", "G": "GG"}, 120, 2),
    "plant": ("X", {"X": "F+[[X]-X]-F[-FX]+X", "F": "FF"}, 25, 2),
}
for name, (axiom, rules, angle, n) in systems.items():
    word = rewrite(axiom, rules, n)
    pts = draw(word, angle)
    lo, hi = pts.min(axis=0), pts.max(axis=0)
    print(f"{name:<11}{len(word):5d} symbols {len(pts):4d} points, box {hi[0] - lo[0]:.3f} x {hi[1] - lo[1]:.3f}")
unique = np.unique(pts, axis=0)
print("distinct points of the plant:", len(unique), "end", pts[-1] + 0.0)
