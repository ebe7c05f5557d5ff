import numpy as np


class SolverError(Exception):
    def __init__(self, message, code=1):
        super().__init__(message)
        self.code = code


def solve(A, b):
    A = np.asarray(A, dtype=float)
    b = np.asarray(b, dtype=float)
    if A.ndim != 2 or A.shape[0] != A.shape[1]:
        raise ValueError(f"matrix must be square, got {A.shape}")
    try:
        x = np.linalg.solve(A, b)
    except np.linalg.LinAlgError as e:
        raise SolverError(f"singular: {e}", code=2) from e
    else:
        status = "ok"
    finally:
        calls.append(A.shape)
    return x, status


calls = []
systems = [
    ([[2, 1], [1, 3]], [3, 5]),
    ([[1, 2], [2, 4]], [1, 2]),
    ([[1, 2, 3], [4, 5, 6]], [1, 2]),
    ([[4.0]], [2.0]),
    ([[1, 0], [0, 1]], [1, 2, 3]),
]
for i, (A, b) in enumerate(systems):
    try:
        x, status = solve(A, b)
    except SolverError as e:
        print(i, "SolverError", e.code, e)
    except ValueError as e:
        print(i, type(e).__name__, str(e)[:40])
    else:
        print(i, x, status)
print("calls", calls)
try:
    {}["missing"]
except (KeyError, IndexError) as err:
    print("caught", repr(err))
try:
    int("12x")
except ValueError as err:
    print(err)
