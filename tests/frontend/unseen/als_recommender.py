import numpy as np

np.random.seed(3)
ratings = np.array(
    [
        [5, 3, 0, 1, 4],
        [4, 0, 0, 1, 3],
        [1, 1, 0, 5, 0],
        [1, 0, 0, 4, 2],
        [0, 1, 5, 4, 0],
        [2, 1, 4, 0, 1],
    ],
    dtype=float,
)
mask = ratings > 0
n_users, n_items = ratings.shape
K, lam = 2, 0.1
U = np.random.normal(scale=1.0 / K, size=(n_users, K))
V = np.random.normal(scale=1.0 / K, size=(n_items, K))


def rmse(U, V):
    err = (ratings - U @ V.T)[mask]
    return np.sqrt((err**2).mean())


print("start %.4f" % rmse(U, V))
for sweep in range(1, 11):
    for u in range(n_users):
        idx = mask[u]
        Vi = V[idx]
        U[u] = np.linalg.solve(Vi.T @ Vi + lam * np.eye(K), Vi.T @ ratings[u, idx])
    for i in range(n_items):
        idx = mask[:, i]
        Ui = U[idx]
        V[i] = np.linalg.solve(Ui.T @ Ui + lam * np.eye(K), Ui.T @ ratings[idx, i])
    if sweep % 5 == 0:
        print("sweep %d: %.4f" % (sweep, rmse(U, V)))
pred = np.where(mask, -np.inf, U @ V.T)
for u, best in enumerate(pred.argmax(axis=1)):
    print(f"user {u}: item {best} ({pred[u, best]:.2f})")
