from collections import deque
from enum import IntEnum
import numpy as np

MAZE = [
    "#########",
    "#S..#...#",
    "#.#.#.#.#",
    "#.#...#E#",
    "#########",
]


class Dir(IntEnum):
    N = 0
    E = 1
    S = 2
    W = 3

    @property
    def delta(self):
        return ((-1, 0), (0, 1), (1, 0), (0, -1))[self]

    def turn(self, k=1):
        return Dir((self + k) % 4)


grid = np.array([list(r) for r in MAZE])
free = grid != "#"
start = tuple(int(v) for v in np.argwhere(grid == "S")[0])
goal = tuple(int(v) for v in np.argwhere(grid == "E")[0])


def bfs(start, goal):
    q = deque([(start, 0)])
    seen = {start: None}
    while q:
        cur, d = q.popleft()
        if cur == goal:
            route = []
            while cur is not None:
                route.append(cur)
                cur = seen[cur]
            return d, route[::-1]
        for dr in Dir:
            nxt = tuple(a + b for a, b in zip(cur, dr.delta))
            if free[nxt] and nxt not in seen:
                seen[nxt] = cur
                q.append((nxt, d + 1))
    return None


d, route = bfs(start, goal)
print(d, route[0], route[-1])
for r, c in route[1:-1]:
    grid[r, c] = "*"
print("\n".join("".join(r) for r in grid))
print(Dir.N.turn(), repr(Dir.W.turn(2)), [x.name for x in Dir], Dir(3).delta, free.sum())
# value iteration on the same maze
V = np.zeros(free.shape)
R = np.where(free, -1.0, -np.inf)
for sweep in range(30):
    Vn = np.full_like(V, -np.inf)
    for dr in Dir:
        dy, dx = dr.delta
        Vn = np.maximum(Vn, np.roll(V, (-dy, -dx), axis=(0, 1)) + R)
    Vn[goal] = 0
    Vn[~free] = -np.inf
    if np.array_equal(Vn, V):
        break
    V = Vn
print(sweep, V[start])
