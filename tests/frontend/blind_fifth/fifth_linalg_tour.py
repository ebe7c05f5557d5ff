import numpy as np

rng = np.random.default_rng(17)
A = rng.normal(size=(5, 5))
S = A @ A.T + 5 * np.eye(5)
b = rng.normal(size=5)


def lu(A):
    A = A.astype(float).copy()
    n = len(A)
    piv = np.arange(n)
    for k in range(n - 1):
        p = k + np.argmax(np.abs(A[k:, k]))
        if p != k:
            A[[k, p]] = A[[p, k]]
            piv[[k, p]] = piv[[p, k]]
        A[k + 1:, k] /= A[k, k]
        A[k + 1:, k + 1:] -= np.outer(A[k + 1:, k], A[k, k + 1:])
    return np.tril(A, -1) + np.eye(n), np.triu(A), piv


def gram_schmidt(V):
    Q = np.zeros_like(V)
    for j in range(V.shape[1]):
        v = V[:, j] - Q[:, :j] @ (Q[:, :j].T @ V[:, j])
        Q[:, j] = v / np.sqrt(v @ v)
    return Q


def arnoldi(A, v, m):
    n = len(v)
    Q, H = np.zeros((n, m + 1)), np.zeros((m + 1, m))
    Q[:, 0] = v / np.linalg.norm(v)
    for k in range(m):
        w = A @ Q[:, k]
        for j in range(k + 1):
            H[j, k] = Q[:, j] @ w
            w -= H[j, k] * Q[:, j]
        H[k + 1, k] = np.linalg.norm(w)
        if H[k + 1, k] < 1e-12:
            break
        Q[:, k + 1] = w / H[k + 1, k]
    return Q, H


def expm(A, terms=30):
    E, term = np.eye(len(A)), np.eye(len(A))
    for k in range(1, terms):
        term = term @ A / k
        E += term
    return E


L, U, piv = lu(A)
print(np.allclose(L @ U, A[piv]), np.allclose(gram_schmidt(A).T @ gram_schmidt(A), np.eye(5)))
Q, H = arnoldi(S, b, 3)
print(np.allclose(S @ Q[:, :3], Q @ H), H.shape)
x = np.zeros(5); r = b - S @ x; p = r; k = 0
while r @ r > 1e-20 and k < 20:
    Sp = S @ p
    alpha = (r @ r) / (p @ Sp)
    x = x + alpha * p
    rn = r - alpha * Sp
    p = rn + (rn @ rn) / (r @ r) * p
    r = rn
    k += 1
print("cg", k <= 7, np.allclose(x, np.linalg.solve(S, b)))
w, V = np.linalg.eigh(S)
print(w.round(4), np.allclose((V * w) @ V.T, S), np.linalg.cond(S).round(4), np.linalg.matrix_rank(A[:, [0, 0, 1]]))
print(np.allclose(expm(np.array([[0, -np.pi], [np.pi, 0]])), -np.eye(2)), np.linalg.slogdet(S)[1].round(5), np.linalg.det(A).round(5))
print(np.einsum("ij,jk,ki->", A, S, A).round(4), np.einsum("ii->i", S).round(3), np.einsum("i,j->ij", b, b).shape, np.einsum("...ij->...ji", A[None]).shape)
print(np.kron(np.eye(2), [[1, 2]]), np.linalg.norm(A, "fro").round(4), np.linalg.norm(A, 2).round(4), np.linalg.norm(b, ord=1).round(4), np.linalg.norm(A, axis=0, ord=np.inf).round(3))
try:
    np.linalg.inv(np.zeros((2, 2)))
except np.linalg.LinAlgError as e:
    print("LinAlgError:", e)
c, res, rank, sv = np.linalg.lstsq(np.c_[np.ones(5), np.arange(5.0)], b, rcond=None)
print(c.round(4), res.round(4), rank, sv.round(4))
batch = rng.normal(size=(3, 2, 2))
print(np.linalg.inv(batch).shape, np.linalg.det(batch).round(3), np.linalg.solve(batch, np.ones((3, 2, 1))).shape, np.linalg.eigvals(batch).shape)
print(np.linalg.tensorsolve(np.eye(6).reshape(2, 3, 6), np.arange(6.0).reshape(2, 3)).round(3), np.linalg.matrix_norm(batch).round(3), np.linalg.vector_norm(b).round(4))
