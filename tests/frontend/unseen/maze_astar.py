import heapq

import numpy as np

MAZE = """
#########
#S..#...#
#.#.#.#.#
#.#...#.#
#.#####.#
#......E#
#########
""".strip()

grid = np.array([list(line) for line in MAZE.split("\n")])
walls = grid == "#"
start = tuple(int(v) for v in np.argwhere(grid == "S")[0])
goal = tuple(int(v) for v in np.argwhere(grid == "E")[0])


def heuristic(a, b):
    return abs(a[0] - b[0]) + abs(a[1] - b[1])


def astar(start, goal):
    frontier = [(heuristic(start, goal), 0, start)]
    came_from = {start: None}
    cost = {start: 0}
    expanded = 0
    while frontier:
        _, g, node = heapq.heappop(frontier)
        expanded += 1
        if node == goal:
            break
        for dr, dc in ((0, 1), (1, 0), (0, -1), (-1, 0)):
            nxt = (node[0] + dr, node[1] + dc)
            if walls[nxt]:
                continue
            new = cost[node] + 1
            if nxt not in cost or new < cost[nxt]:
                cost[nxt] = new
                came_from[nxt] = node
                heapq.heappush(frontier, (new + heuristic(nxt, goal), new, nxt))
    path = []
    node = goal
    while node is not None:
        path.append(node)
        node = came_from[node]
    return path[::-1], expanded


path, expanded = astar(start, goal)
for cell in path[1:-1]:
    grid[cell] = "*"
print("\n".join("".join(row) for row in grid))
print("length", len(path) - 1, "expanded", expanded)
