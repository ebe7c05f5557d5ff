import numpy as np

names = ["human", "chimp", "gorilla", "orang", "gibbon"]
D = np.array([
    [0.0, 0.09, 0.11, 0.18, 0.21],
    [0.09, 0.0, 0.10, 0.19, 0.22],
    [0.11, 0.10, 0.0, 0.18, 0.21],
    [0.18, 0.19, 0.18, 0.0, 0.22],
    [0.21, 0.22, 0.21, 0.22, 0.0],
])


def upgma(D, names):
    D = D.astype(float).copy()
    np.fill_diagonal(D, np.inf)
    nodes = [(n, 1, 0.0) for n in names]
    merges = []
    while len(nodes) > 1:
        i, j = np.unravel_index(np.argmin(D), D.shape)
        i, j = min(i, j), max(i, j)
        (a, na, ha), (b, nb, hb) = nodes[i], nodes[j]
        h = D[i, j] / 2
        label = f"({a}:{h - ha:.3f},{b}:{h - hb:.3f})"
        merged = (na * D[i] + nb * D[j]) / (na + nb)
        D[i], D[:, i] = merged, merged
        D[i, i] = np.inf
        D = np.delete(np.delete(D, j, axis=0), j, axis=1)
        nodes[i] = (label, na + nb, h)
        del nodes[j]
        merges.append((a.count(",") + 1, b.count(",") + 1, round(float(h), 4)))
    return nodes[0][0], merges


tree, merges = upgma(D, names)
print(tree + ";")
for m in merges:
    print(m)
iu = np.triu_indices(len(names), 1)
print("mean distance %.4f" % D[iu].mean(), "closest", [names[k[D[iu].argmin()]] for k in iu])
