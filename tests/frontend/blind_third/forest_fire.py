import numpy as np

EMPTY, TREE, FIRE = 0, 1, 2
rng = np.random.default_rng(31)
grid = (rng.random((20, 20)) < 0.6).astype(int)
grid[10, 10] = FIRE


def burning_neighbours(g):
    f = np.pad(g == FIRE, 1)
    return f[:-2, 1:-1] | f[2:, 1:-1] | f[1:-1, :-2] | f[1:-1, 2:]


steps = 0
while (grid == FIRE).any():
    catch = (grid == TREE) & burning_neighbours(grid)
    new = grid.copy()
    new[grid == FIRE] = EMPTY
    new[catch] = FIRE
    grid = new
    steps += 1
    if steps > 200:
        break
print("burned out after", steps, "steps")
print("trees left:", np.count_nonzero(grid == TREE))
print("\n".join("".join(" ♣*"[c] for c in row) for row in grid[:4]))
