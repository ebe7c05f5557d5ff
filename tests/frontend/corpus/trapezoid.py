import numpy as np
def integrate(f, a, b, n=100):
    x = np.linspace(a, b, n + 1)
    y = f(x)
    return (b - a) / n * (y[0] / 2 + y[1:-1].sum() + y[-1] / 2)
print(integrate(np.sin, 0, np.pi), integrate(lambda t: t ** 2, 0, 1))
