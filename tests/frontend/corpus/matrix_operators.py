import numpy as np

class Matrix:
    __slots__ = ("rows", "cols", "data")
    def __init__(self, data):
        self.data = [list(r) for r in data]
        self.rows, self.cols = len(self.data), len(self.data[0])
    def __matmul__(self, o):
        if self.cols != o.rows:
            raise ValueError(f"shapes {self.shape} and {o.shape} do not fit")
        return Matrix([[sum(a * b for a, b in zip(r, c)) for c in zip(*o.data)] for r in self.data])
    @property
    def shape(self): return self.rows, self.cols
    def __add__(self, o): return Matrix([[a + b for a, b in zip(r, s)] for r, s in zip(self.data, o.data)])
    def __mul__(self, k): return Matrix([[a * k for a in r] for r in self.data])
    __rmul__ = __mul__
    def __eq__(self, o): return isinstance(o, Matrix) and self.data == o.data
    def __getitem__(self, ij):
        i, j = ij
        return self.data[i][j]
    def __setitem__(self, ij, v): self.data[ij[0]][ij[1]] = v
    def __repr__(self): return "Matrix(" + repr(self.data) + ")"
    def __str__(self): return "\n".join(" ".join(f"{v:6.2f}" for v in r) for r in self.data)
    def __iter__(self): return (v for r in self.data for v in r)
    def __contains__(self, v): return any(v == x for x in self)
    def __len__(self): return self.rows * self.cols
    def __neg__(self): return self * -1
    def __pow__(self, n):
        out = Matrix(np.eye(self.rows).tolist())
        base = self
        while n:
            if n & 1: out = out @ base
            base = base @ base
            n >>= 1
        return out
    def __bool__(self): return any(self)
    def __call__(self, v): return [sum(a * b for a, b in zip(r, v)) for r in self.data]
    def __hash__(self): return hash(tuple(map(tuple, self.data)))

m = Matrix([[1, 1], [1, 0]])
print(m ** 10)
print(repr(2 * m + -m), 1 in m, 5 in m, len(m), bool(m), m((3, 4)))
try:
    m @ Matrix([[1, 2, 3]])
except ValueError as e:
    print("error:", e)
m[0, 1] = 7.5
print(m[0, 1], list(m), m == Matrix([[1, 7.5], [1, 0]]))
a = np.array(m.data)
print(np.linalg.det(a).round(6), {m: 1}[Matrix([[1, 7.5], [1, 0]])])
