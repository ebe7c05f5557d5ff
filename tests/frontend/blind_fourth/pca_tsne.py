import numpy as np


def pca(X, k):
    Xc = X - X.mean(axis=0)
    cov = Xc.T @ Xc / (X.shape[0] - 1)
    vals, vecs = np.linalg.eigh(cov)
    idx = np.argsort(vals)[::-1][:k]
    comps = vecs[:, idx]
    signs = np.sign(comps[np.abs(comps).argmax(axis=0), range(k)])
    return Xc @ (comps * signs), vals[idx] / vals.sum()


def power_iteration(A, n=100):
    b = np.ones(A.shape[0])
    for _ in range(n):
        b = A @ b
        b /= np.linalg.norm(b)
    return b @ A @ b, b


def gram_schmidt(V):
    Q = []
    for v in V.T:
        w = v - sum((np.dot(v, q) * q for q in Q), np.zeros_like(v))
        if (norm := np.linalg.norm(w)) > 1e-10:
            Q.append(w / norm)
    return np.column_stack(Q)


def qr_eigs(A, it=50):
    Ak = A.copy()
    for _ in range(it):
        Q, R = np.linalg.qr(Ak)
        Ak = R @ Q
    return np.sort(np.diag(Ak))


def lu(A):
    n = len(A)
    P, L, U = np.eye(n), np.zeros_like(A), A.copy()
    for k in range(n - 1):
        p = k + np.argmax(np.abs(U[k:, k]))
        if p != k:
            U[[k, p]] = U[[p, k]]
            P[[k, p]] = P[[p, k]]
            L[[k, p], :k] = L[[p, k], :k]
        L[k + 1:, k] = U[k + 1:, k] / U[k, k]
        U[k + 1:] -= np.outer(L[k + 1:, k], U[k])
    np.fill_diagonal(L, 1)
    return P, L, U


rng = np.random.default_rng(21)
X = rng.normal(size=(40, 5)) @ np.diag([3, 2, 1, 0.5, 0.1])
Z, ratio = pca(X, 2)
print(Z.shape, ratio.round(4), abs(np.corrcoef(Z.T)[0, 1]) < 1e-10)
S = X.T @ X
lam, v = power_iteration(S)
print(np.isclose(lam, np.linalg.eigvalsh(S)[-1]))
Q = gram_schmidt(X[:5])
print(np.allclose(Q.T @ Q, np.eye(5)))
print(np.allclose(qr_eigs(S), np.linalg.eigvalsh(S), rtol=1e-3))
P, L, U = lu(S)
print(np.allclose(P @ S, L @ U), np.linalg.matrix_rank(S), np.linalg.cond(S).round(3))
x = np.linalg.solve(S, np.arange(5.0))
print(x.round(5), np.linalg.slogdet(S))
