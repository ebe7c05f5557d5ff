from __future__ import annotations

from typing import Iterable, Optional


class Matrix:
    __slots__ = ("rows",)

    def __init__(self, rows: Iterable[Iterable[float]]):
        self.rows = [list(r) for r in rows]
        if len({len(r) for r in self.rows}) != 1:
            raise ValueError("ragged rows")

    @classmethod
    def identity(cls, n: int) -> Matrix:
        return cls([[1 if i == j else 0 for j in range(n)] for i in range(n)])

    @property
    def shape(self) -> tuple[int, int]:
        return len(self.rows), len(self.rows[0])

    def __matmul__(self, other: Matrix) -> Matrix:
        cols = list(zip(*other.rows))
        return Matrix([[sum(a * b for a, b in zip(r, c)) for c in cols] for r in self.rows])

    def __pow__(self, n: int) -> Matrix:
        result, base = Matrix.identity(len(self.rows)), self
        while n:
            if n & 1:
                result = result @ base
            base = base @ base
            n >>= 1
        return result

    def __getitem__(self, ij):
        i, j = ij
        return self.rows[i][j]

    def __eq__(self, other):
        return isinstance(other, Matrix) and self.rows == other.rows

    def __iter__(self):
        return iter(self.rows)

    def __str__(self):
        return "\n".join("[" + ", ".join(f"{v:5g}" for v in r) + "]" for r in self)

    def det(self, rows: Optional[list] = None) -> float:
        rows = self.rows if rows is None else rows
        if len(rows) == 1:
            return rows[0][0]
        return sum((-1) ** j * rows[0][j] * self.det([r[:j] + r[j + 1:] for r in rows[1:]]) for j in range(len(rows)))


fib = Matrix([[1, 1], [1, 0]])
print((fib ** 30)[0, 1], fib.shape, fib == Matrix([[1, 1], [1, 0]]))
m = Matrix([[2, 0, 1], [1, 3, 2], [1, 1, 1.5]])
print(m @ m, m.det(), sep="\n---\n")
try:
    Matrix([[1, 2], [3]])
except ValueError as e:
    print(repr(e))
