import numpy as np

H = np.array([
    [1, 1, 0, 1, 1, 0, 0, 1, 0, 0],
    [0, 1, 1, 0, 1, 1, 1, 0, 0, 0],
    [0, 0, 0, 1, 0, 0, 1, 0, 1, 1],
    [1, 1, 0, 0, 0, 1, 0, 0, 1, 0],
    [0, 0, 1, 0, 0, 0, 0, 1, 1, 1],
])


def syndrome(word):
    return H @ word % 2


def gf2_null_space(H):
    A = H.copy()
    rows, cols = A.shape
    pivots, r = [], 0
    for c in range(cols):
        hits = np.nonzero(A[r:, c])[0]
        if len(hits) == 0:
            continue
        p = r + hits[0]
        A[[r, p]] = A[[p, r]]
        for i in range(rows):
            if i != r and A[i, c]:
                A[i] ^= A[r]
        pivots.append(c)
        r += 1
        if r == rows:
            break
    free = [c for c in range(cols) if c not in pivots]
    basis = []
    for f in free:
        v = np.zeros(cols, dtype=int)
        v[f] = 1
        for row, p in enumerate(pivots):
            v[p] = A[row, f]
        basis.append(v)
    return np.array(basis)


def decode(word, limit=20):
    w = word.copy()
    for it in range(limit):
        s = syndrome(w)
        if not s.any():
            return w, it
        fails = H.T @ s
        w[fails == fails.max()] ^= 1
    return None, limit


Gm = gf2_null_space(H)
print("k =", len(Gm), "rank =", H.shape[1] - len(Gm))
assert not (H @ Gm.T % 2).any()
rng = np.random.default_rng(6)
ok = 0
for trial in range(12):
    msg = rng.integers(0, 2, len(Gm))
    code = msg @ Gm % 2
    bad = code.copy()
    flip = rng.integers(len(code))
    bad[flip] ^= 1
    out, its = decode(bad)
    good = out is not None and np.array_equal(out, code)
    ok += good
    print(trial, "".join(map(str, code)), flip, "ok" if good else "failed", its)
print(f"{ok}/12 corrected")
