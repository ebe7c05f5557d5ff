import numpy as np


def omp(D, y, n_nonzero):
    residual = y.copy()
    support = []
    for _ in range(n_nonzero):
        k = int(np.argmax(np.abs(D.T @ residual)))
        if k in support:
            break
        support.append(k)
        coef, *_ = np.linalg.lstsq(D[:, support], y, rcond=None)
        residual = y - D[:, support] @ coef
    x = np.zeros(D.shape[1])
    x[support] = coef
    return x, residual


np.random.seed(1)
D = np.random.randn(20, 40)
D /= np.linalg.norm(D, axis=0)
x_true = np.zeros(40)
x_true[[4, 17, 30]] = [1.5, -2.0, 0.7]
y = D @ x_true
x_hat, r = omp(D, y, 3)
print("support", np.nonzero(x_hat)[0])
print("values", x_hat[x_hat != 0].round(4))
print("residual norm %.2e" % np.linalg.norm(r))
