import numpy as np
from numpy.polynomial import polynomial as P
from numpy.polynomial.legendre import leggauss, legval


def gram_schmidt(n, x, w):
    basis = []
    for k in range(n):
        v = x**k
        for q in basis:
            v = v - (w * v * q).sum() * q
        basis.append(v / np.sqrt((w * v * v).sum()))
    return np.array(basis)


x, w = leggauss(8)
print("nodes", x.round(5))
print("weights sum", w.sum().round(12))
B = gram_schmidt(4, x, w)
print("orthonormal", np.allclose((B * w) @ B.T, np.eye(4)))
scale = np.sqrt((2 * np.arange(4) + 1) / 2)
leg = np.array([legval(x, np.eye(4)[k]) for k in range(4)])
print("legendre", np.allclose(np.abs(B), np.abs(leg * scale[:, None])))
f = lambda t: np.exp(t) * np.cos(t)
exact = (np.e * (np.sin(1) + np.cos(1)) - np.exp(-1) * (np.cos(1) - np.sin(1))) / 2
for n in (2, 3, 5):
    xi, wi = leggauss(n)
    print(n, f"{abs((wi * f(xi)).sum() - exact):.2e}")
p, q = np.array([1.0, 2.0, 3.0]), np.array([0.0, 1.0])
print(P.polymul(p, q), P.polyval(2.0, p), P.polyder(p), P.polyint(p))
print(np.polydiv([1, -3, 2], [1, -1]), np.polyval([1, 0, -1], 3))
