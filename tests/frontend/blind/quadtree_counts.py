import numpy as np


class Quad:
    __slots__ = ("x", "y", "size", "points", "children")
    CAPACITY = 4

    def __init__(self, x, y, size):
        self.x, self.y, self.size = x, y, size
        self.points = []
        self.children = None

    def contains(self, p):
        return self.x <= p[0] < self.x + self.size and self.y <= p[1] < self.y + self.size

    def insert(self, p):
        if not self.contains(p):
            return False
        if self.children is None:
            if len(self.points) < self.CAPACITY:
                self.points.append(p)
                return True
            h = self.size / 2
            self.children = [Quad(self.x + i * h, self.y + j * h, h) for j in (0, 1) for i in (0, 1)]
            for q in self.points:
                self._push(q)
            self.points = []
        return self._push(p)

    def _push(self, p):
        return any(c.insert(p) for c in self.children)

    def query(self, x0, y0, x1, y1):
        if x1 <= self.x or y1 <= self.y or x0 >= self.x + self.size or y0 >= self.y + self.size:
            return
        for p in self.points:
            if x0 <= p[0] < x1 and y0 <= p[1] < y1:
                yield p
        for c in self.children or ():
            yield from c.query(x0, y0, x1, y1)

    def depth(self):
        return 1 + max((c.depth() for c in self.children or []), default=0)


rng = np.random.default_rng(55)
pts = rng.beta(2, 5, size=(60, 2))
tree = Quad(0.0, 0.0, 1.0)
print("inserted", sum(tree.insert(tuple(p)) for p in pts))
print("depth", tree.depth())
for box in [(0, 0, 0.5, 0.5), (0.1, 0.1, 0.3, 0.4), (0.8, 0.8, 1, 1)]:
    found = sorted(tree.query(*box))
    brute = np.all((pts >= box[:2]) & (pts < box[2:]), axis=1).sum()
    print(box, len(found), len(found) == brute)
print([tuple(round(float(v), 3) for v in p) for p in sorted(tree.query(0, 0, 0.2, 0.2))[:3]])
