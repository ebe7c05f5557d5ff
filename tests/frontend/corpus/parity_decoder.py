import numpy as np

H = np.array([[1, 1, 0, 1, 1, 0, 0], [1, 0, 1, 1, 0, 1, 0], [0, 1, 1, 1, 0, 0, 1]])


def decode(word, limit=30):
    w = word.copy()
    for rounds in range(limit):
        s = H @ w % 2
        if not s.any():
            return w, rounds
        votes = H.T @ s
        w[votes == votes.max()] ^= 1
    return None, limit


rng = np.random.default_rng(3)
for trial in range(12):
    sent = np.zeros(7, dtype=int)
    sent[rng.integers(7)] ^= 1
    out, rounds = decode(sent)
    print(trial, sent, "lost" if out is None else out, rounds)
