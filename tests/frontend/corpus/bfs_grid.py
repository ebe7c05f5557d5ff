import numpy as np
grid = np.array([[0,0,1,0],[1,0,1,0],[0,0,0,0],[0,1,1,0]])
dist = -np.ones_like(grid)
queue = [(0, 0)]; dist[0, 0] = 0
while queue:
    i, j = queue.pop(0)
    for di, dj in ((1,0),(-1,0),(0,1),(0,-1)):
        a, b = i + di, j + dj
        if 0 <= a < 4 and 0 <= b < 4 and grid[a, b] == 0 and dist[a, b] < 0:
            dist[a, b] = dist[i, j] + 1
            queue.append((a, b))
print(dist)
