"""Kalman filter with a Rauch-Tung-Striebel smoother, constant velocity model."""
import numpy as np
from numpy.linalg import inv

rng = np.random.default_rng(42)
dt, n = 0.1, 50
F = np.array([[1, dt], [0, 1]])
H = np.array([[1.0, 0.0]])
Q = 0.05 * np.array([[dt**3 / 3, dt**2 / 2], [dt**2 / 2, dt]])
R = np.array([[0.25]])

truth = np.zeros((n, 2))
truth[0] = [0, 1]
for k in range(1, n):
    truth[k] = F @ truth[k - 1] + rng.multivariate_normal(np.zeros(2), Q)
z = truth[:, 0] + rng.normal(0, np.sqrt(R[0, 0]), size=n)

x, P = np.zeros(2), np.eye(2) * 10
means, covs, pred_m, pred_P = [], [], [], []
for k in range(n):
    xp = F @ x
    Pp = F @ P @ F.T + Q
    S = H @ Pp @ H.T + R
    K = Pp @ H.T @ inv(S)
    x = xp + (K @ (z[k] - H @ xp)).ravel()
    P = (np.eye(2) - K @ H) @ Pp
    means.append(x)
    covs.append(P)
    pred_m.append(xp)
    pred_P.append(Pp)

sm, sP = [None] * n, [None] * n
sm[-1], sP[-1] = means[-1], covs[-1]
for k in reversed(range(n - 1)):
    C = covs[k] @ F.T @ inv(pred_P[k + 1])
    sm[k] = means[k] + C @ (sm[k + 1] - pred_m[k + 1])
    sP[k] = covs[k] + C @ (sP[k + 1] - pred_P[k + 1]) @ C.T

rmse = lambda a: float(np.sqrt(np.mean((np.array(a) - truth) ** 2)))
print(f"filter rmse   {rmse(means):.4f}")
print(f"smoother rmse {rmse(sm):.4f}")
print("smoother better:", rmse(sm) < rmse(means))
print(np.array(sP)[::10, 0, 0].round(5))
