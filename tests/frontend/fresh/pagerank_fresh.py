import numpy as np


def pagerank(links: dict[str, list[str]], damping: float = 0.85, tol: float = 1e-8) -> dict[str, float]:
    nodes = sorted(links)
    index = {name: i for i, name in enumerate(nodes)}
    n = len(nodes)
    M = np.zeros((n, n))
    for src, targets in links.items():
        if not targets:
            M[:, index[src]] = 1.0 / n
            continue
        for dst in targets:
            M[index[dst], index[src]] = 1.0 / len(targets)
    rank = np.ones(n) / n
    iterations = 0
    while True:
        new = damping * M @ rank + (1 - damping) / n
        iterations += 1
        if np.abs(new - rank).sum() < tol:
            break
        rank = new
    print("converged after", iterations, "iterations")
    return {name: float(new[index[name]]) for name in nodes}


web = {
    "home": ["about", "products", "links"],
    "about": ["home"],
    "products": ["home", "links"],
    "links": ["home", "about", "products", "external"],
    "external": [],
}
scores = pagerank(web)
for name, score in sorted(scores.items(), key=lambda kv: kv[1], reverse=True):
    print(f"{name:<10} {score:.4f}")
print("total", round(sum(scores.values()), 6))
