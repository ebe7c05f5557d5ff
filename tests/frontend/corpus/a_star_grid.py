import heapq
import numpy as np

grid = np.array([[0,0,0,0,1],[1,1,0,1,0],[0,0,0,0,0],[0,1,1,1,0],[0,0,0,0,0]])
start, goal = (0, 0), (4, 4)

def h(p):
    return abs(p[0] - goal[0]) + abs(p[1] - goal[1])

openq = [(h(start), 0, start, None)]
came, cost = {}, {start: 0}
while openq:
    _, g, cur, parent = heapq.heappop(openq)
    if cur in came:
        continue
    came[cur] = parent
    if cur == goal:
        break
    for d in [(0, 1), (1, 0), (0, -1), (-1, 0)]:
        nxt = (cur[0] + d[0], cur[1] + d[1])
        if not (0 <= nxt[0] < grid.shape[0] and 0 <= nxt[1] < grid.shape[1]) or grid[nxt]:
            continue
        ng = g + 1
        if ng < cost.get(nxt, float("inf")):
            cost[nxt] = ng
            heapq.heappush(openq, (ng + h(nxt), ng, nxt, cur))
path, p = [], goal
while p is not None:
    path.append(p)
    p = came[p]
print(len(path), path[::-1])
