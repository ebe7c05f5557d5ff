import numpy as np


def bspline_basis(x, knots, degree):
    """Cox-de Boor recursion, all basis functions at x."""
    n = len(knots) - degree - 1
    B = [((knots[i] <= x) & (x < knots[i + 1])).astype(float) for i in range(len(knots) - 1)]
    for d in range(1, degree + 1):
        nxt = []
        for i in range(len(knots) - d - 1):
            left = right = 0
            if knots[i + d] != knots[i]:
                left = (x - knots[i]) / (knots[i + d] - knots[i]) * B[i]
            if knots[i + d + 1] != knots[i + 1]:
                right = (knots[i + d + 1] - x) / (knots[i + d + 1] - knots[i + 1]) * B[i + 1]
            nxt.append(left + right)
        B = nxt
    return np.column_stack(B[:n])


degree = 3
inner = np.linspace(0, 1, 6)
knots = np.r_[[0.0] * degree, inner, [1.0] * degree]
x = np.linspace(0, 1, 40, endpoint=False)
y = np.sin(2 * np.pi * x) + 0.1 * np.cos(20 * x)
B = bspline_basis(x, knots, degree)
coef, residuals, rank, sv = np.linalg.lstsq(B, y, rcond=None)
print("partition of unity:", np.allclose(B.sum(axis=1), 1.0))
print("rank", rank, "of", B.shape[1])
print("coef", np.array2string(coef, precision=3, suppress_small=True))
print("rss %.6f" % residuals[0])
lam = 1e-2
D = np.diff(np.eye(B.shape[1]), n=2, axis=0)
pen = np.linalg.solve(B.T @ B + lam * D.T @ D, B.T @ y)
for name, c in (("plain", coef), ("penalised", pen)):
    fit = B @ c
    print(f"{name:>10s} rms={np.sqrt(((y - fit) ** 2).mean()):.5f} rough={np.sum((D @ c) ** 2):.4f}")
