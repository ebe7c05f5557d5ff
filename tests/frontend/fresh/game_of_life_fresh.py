import numpy as np


def step(grid):
    neighbors = sum(
        np.roll(np.roll(grid, i, 0), j, 1)
        for i in (-1, 0, 1)
        for j in (-1, 0, 1)
        if (i, j) != (0, 0)
    )
    return ((neighbors == 3) | ((grid == 1) & (neighbors == 2))).astype(np.uint8)


def show(grid):
    for row in grid:
        print("".join("#" if cell else "." for cell in row))


if __name__ == "__main__":
    world = np.zeros((10, 10), dtype=np.uint8)
    glider = np.array([[0, 1, 0], [0, 0, 1], [1, 1, 1]], dtype=np.uint8)
    world[1:4, 1:4] = glider
    generations = 12
    for gen in range(generations):
        world = step(world)
    show(world)
    print("alive:", world.sum(), "of", world.size)
    ys, xs = np.nonzero(world)
    print(f"bounding box: ({ys.min()}, {xs.min()}) - ({ys.max()}, {xs.max()})")
