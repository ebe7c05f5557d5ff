import numpy as np
class SolverError(Exception):
    def __init__(self, msg, residual=None):
        super().__init__(msg)
        self.residual = residual
class Diverged(SolverError): pass

def jacobi(A, b, tol=1e-8, maxit=100):
    D = np.diag(A)
    if np.any(D == 0):
        raise ZeroDivisionError("zero on the diagonal")
    R = A - np.diagflat(D)
    x = np.zeros_like(b)
    for k in range(maxit):
        x_new = (b - R @ x) / D
        r = np.linalg.norm(x_new - x)
        if not np.isfinite(r) or r > 1e6:
            raise Diverged(f"after {k} iterations", residual=float(r))
        if r < tol:
            return x_new, k
        x = x_new
    raise SolverError("not converged", r)

for A in ([[4.0, 1], [2, 5]], [[1.0, 9], [8, 1]], [[0.0, 1], [1, 0]]):
    try:
        x, k = jacobi(np.array(A), np.array([1.0, 2]))
    except Diverged as e:
        print("diverged", e, e.residual > 1e6)
    except (SolverError, ArithmeticError) as e:
        print(type(e).__name__, e.args)
    else:
        print("ok", x.round(6), k)
    finally:
        print("--")
try:
    try:
        {}["k"]
    except KeyError as e:
        raise RuntimeError("outer") from e
except RuntimeError as e:
    print(e, repr(e.__cause__))
try:
    np.linalg.inv(np.zeros((2, 2)))
except np.linalg.LinAlgError as e:
    print("singular:", e)
try:
    np.zeros(3) + np.zeros(4)
except ValueError as e:
    print(str(e)[:40])
try:
    [1, 2][5]
except IndexError as e:
    print(e)
try:
    int("x")
except ValueError as e:
    print(e)
