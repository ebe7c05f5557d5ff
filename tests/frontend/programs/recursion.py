import numpy as np


def fib(n):
    return n if n < 2 else fib(n - 1) + fib(n - 2)


def determinant(a):
    if a.shape[0] == 1:
        return a[0, 0]
    total = 0.0
    for j in range(a.shape[1]):
        rest = np.concatenate([a[1:, :j], a[1:, j + 1 :]], axis=1)
        total = total + (-1) ** j * a[0, j] * determinant(rest)
    return total


def fft(x):
    n = len(x)
    if n == 1:
        return x, np.zeros(1)
    (er, ei), (dr, di) = fft(x[::2]), fft(x[1::2])
    k = np.arange(n // 2)
    c, s = np.cos(2 * np.pi * k / n), -np.sin(2 * np.pi * k / n)
    tr, ti = c * dr - s * di, c * di + s * dr
    return np.concatenate([er + tr, er - tr]), np.concatenate([ei + ti, ei - ti])


def even(n):
    return True if n == 0 else odd(n - 1)


def odd(n):
    return False if n == 0 else even(n - 1)


def deep(n):
    return 0 if n == 0 else 1 + deep(n - 1)


print(fib(12), even(10), odd(7), deep(150))
print(determinant(np.array([[2.0, 1.0, 0.0], [1.0, 3.0, 1.0], [0.0, 1.0, 4.0]])))
re, im = fft(np.arange(8.0))
print(np.round(re, 6), np.round(im, 6))
