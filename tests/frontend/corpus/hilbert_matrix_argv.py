import sys, os
import numpy as np
def main():
    n = int(sys.argv[1]) if len(sys.argv) > 1 else 4
    print("n =", n, file=sys.stderr)
    H = 1.0 / (np.arange(1, n + 1)[:, None] + np.arange(n))
    print("cond %.4e" % np.linalg.cond(H))
    x = np.linalg.lstsq(H, np.ones(n), rcond=None)[0]
    print(x.round(3), np.linalg.det(H), np.linalg.matrix_rank(H), np.linalg.eigh(H)[0].round(6))
    q, r = np.linalg.qr(H)
    print(np.allclose(q @ r, H), np.kron(np.eye(2), [[1, 2]]))
    return 0
if __name__ == "__main__":
    sys.exit(main())
