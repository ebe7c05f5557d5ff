import numpy as np


def label(grid):
    labels = np.zeros(grid.shape, dtype=int)
    current = 0
    for i in range(grid.shape[0]):
        for j in range(grid.shape[1]):
            if grid[i, j] and labels[i, j] == 0:
                current += 1
                stack = [(i, j)]
                while stack:
                    y, x = stack.pop()
                    if not (0 <= y < grid.shape[0] and 0 <= x < grid.shape[1]):
                        continue
                    if not grid[y, x] or labels[y, x]:
                        continue
                    labels[y, x] = current
                    stack += [(y + 1, x), (y - 1, x), (y, x + 1), (y, x - 1)]
    return labels, current


grid = np.array([[int(c) for c in row] for row in ["1100101", "0110001", "0010111", "1000100", "1110101", "0010001"]])
labels, n = label(grid)
print(labels)
sizes = np.bincount(labels.ravel())[1:]
print(n, "clusters, largest", sizes.max(), "sizes", sizes.tolist())
spanning = set(labels[0]) & set(labels[-1]) - {0}
print("percolates" if spanning else "does not percolate")
