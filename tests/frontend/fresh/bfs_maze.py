import numpy as np
from collections import deque

MAZE = """
#########
#S..#...#
#.#.#.#.#
#.#...#E#
#########
"""


def parse(text):
    rows = [list(line) for line in text.strip().splitlines()]
    return np.array(rows)


def solve(maze):
    (sr, sc), = np.argwhere(maze == "S")
    (er, ec), = np.argwhere(maze == "E")
    seen = {(sr, sc): 0}
    todo = deque([(sr, sc)])
    while todo:
        r, c = todo.popleft()
        if (r, c) == (er, ec):
            return seen[(r, c)]
        for dr, dc in [(0, 1), (1, 0), (0, -1), (-1, 0)]:
            p = (r + dr, c + dc)
            if maze[p] != "#" and p not in seen:
                seen[p] = seen[(r, c)] + 1
                todo.append(p)
    return None


if __name__ == "__main__":
    maze = parse(MAZE)
    print("shape:", maze.shape)
    print("steps:", solve(maze))
    print("open cells:", int((maze != "#").sum()))
