import numpy as np

p = np.array([1, -6, 11, -6])
print("p(2.5) =", np.polyval(p, 2.5))
print("derivative:", np.polyder(p))
print("integral:", np.polyint(p))
roots = np.roots(p)
print("roots:", np.sort(roots.real).round(6))

q = np.poly1d([1, 0, -1])
print(q)
print("q(3) =", q(3), "order", q.order)
print("product:", np.polymul([1, 2], [1, 3]))
print("sum:", np.polyadd([1, 2, 3], [4, 5]))

x = np.linspace(-1, 1, 21)
y = 2 * x**3 - x + 0.5
coef = np.polyfit(x, y, deg=3)
print("fit:", coef.round(4) + 0.0)
fit = np.polyval(coef, x)
print("max error below 1e-12:", np.abs(fit - y).max() < 1e-12)


def durand_kerner(coeffs, iters=60):
    n = len(coeffs) - 1
    z = (0.4 + 0.9j) ** np.arange(n)
    for _ in range(iters):
        for i in range(n):
            others = np.delete(z, i)
            z[i] = z[i] - np.polyval(coeffs, z[i]) / np.prod(z[i] - others)
    return z


z = durand_kerner([1, 0, 0, -1])
print("cube roots of unity:", np.round(z[np.argsort(z.imag)], 4))
