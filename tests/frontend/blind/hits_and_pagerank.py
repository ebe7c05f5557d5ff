import numpy as np

edges = [("home", "about"), ("home", "blog"), ("blog", "home"), ("blog", "post1"), ("blog", "post2"),
         ("post1", "home"), ("post2", "post1"), ("about", "home"), ("external", "home")]
pages = sorted({p for e in edges for p in e})
idx = {p: i for i, p in enumerate(pages)}
n = len(pages)
A = np.zeros((n, n))
for src, dst in edges:
    A[idx[src], idx[dst]] += 1


def pagerank(A, damping=0.85, tol=1e-10, max_iter=500):
    out = A.sum(axis=1)
    M = np.divide(A, out[:, None], out=np.full_like(A, 1 / len(A)), where=out[:, None] > 0)
    r = np.full(len(A), 1 / len(A))
    for it in range(max_iter):
        new = (1 - damping) / len(A) + damping * M.T @ r
        if np.abs(new - r).sum() < tol:
            return new, it + 1
        r = new
    raise RuntimeError("no convergence")


def hits(A, rounds=60):
    h = np.ones(len(A))
    for _ in range(rounds):
        a = A.T @ h
        a /= np.linalg.norm(a)
        h = A @ a
        h /= np.linalg.norm(h)
    return h, a


ranks, iters = pagerank(A)
hub, auth = hits(A)
print("iterations:", iters)
for p, r in sorted(zip(pages, ranks), key=lambda t: (-t[1], t[0])):
    print(f"{p:<10s} {r:.5f} hub={hub[idx[p]]:.4f} auth={auth[idx[p]]:.4f}")
assert np.isclose(ranks.sum(), 1)
