import numpy as np


def residuals(params, pts):
    cx, cy, r = params
    return np.hypot(pts[:, 0] - cx, pts[:, 1] - cy) - r


def jacobian(params, pts):
    cx, cy, _ = params
    d = np.hypot(pts[:, 0] - cx, pts[:, 1] - cy)
    return np.column_stack([(cx - pts[:, 0]) / d, (cy - pts[:, 1]) / d, -np.ones(len(pts))])


def levenberg_marquardt(params, pts, lam=1e-2, iters=30):
    history = []
    r = residuals(params, pts)
    cost = r @ r
    for _ in range(iters):
        J = jacobian(params, pts)
        A = J.T @ J
        step = np.linalg.solve(A + lam * np.diag(np.diag(A)), -J.T @ r)
        trial = params + step
        rt = residuals(trial, pts)
        if rt @ rt < cost:
            params, r, cost, lam = trial, rt, rt @ rt, lam / 3
        else:
            lam *= 5
        history.append(cost)
        if np.linalg.norm(step) < 1e-9:
            break
    return params, history


rng = np.random.default_rng(31)
theta = rng.uniform(0, 2 * np.pi, 30)
pts = np.column_stack([2 + 3 * np.cos(theta), -1 + 3 * np.sin(theta)]) + rng.normal(0, 0.05, (30, 2))
fit, history = levenberg_marquardt(np.array([0.0, 0.0, 1.0]), pts)
print("centre (%.4f, %.4f) radius %.4f" % tuple(fit))
print("iterations", len(history), "final cost %.6f" % history[-1])
# algebraic fit (Kasa) for comparison
A = np.c_[2 * pts, np.ones(len(pts))]
sol = np.linalg.lstsq(A, (pts**2).sum(1), rcond=None)[0]
print("kasa", np.round([*sol[:2], np.sqrt(sol[2] + sol[0] ** 2 + sol[1] ** 2)], 4))
