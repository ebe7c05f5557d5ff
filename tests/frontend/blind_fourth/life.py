import numpy as np

RLE = "bo$2bo$3o!"


def decode_rle(s):
    rows, row, num = [], [], ""
    for ch in s:
        match ch:
            case "b" | "o":
                row.extend([int(ch == "o")] * int(num or 1))
                num = ""
            case "$":
                rows.append(row)
                row = []
            case "!":
                rows.append(row)
                break
            case d if d.isdigit():
                num += d
            case _:
                raise ValueError(ch)
    w = max(map(len, rows))
    return np.array([r + [0] * (w - len(r)) for r in rows], dtype=np.uint8)


def step(grid):
    n = sum(np.roll(grid, (i, j), (0, 1)) for i in (-1, 0, 1) for j in (-1, 0, 1) if (i, j) != (0, 0))
    return ((n == 3) | ((grid == 1) & (n == 2))).astype(np.uint8)


def show(g):
    return "\n".join("".join(" █"[c] for c in r) for r in g)


world = np.zeros((12, 12), np.uint8)
p = decode_rle(RLE)
world[:p.shape[0], :p.shape[1]] = p
seen = {}
for gen in range(50):
    key = world.tobytes()
    if key in seen:
        print("cycle", seen[key], gen)
        break
    seen[key] = gen
    world = step(world)
print(show(world))
print(world.sum())
