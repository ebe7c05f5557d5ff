import numpy as np

corpus = "abracadabra alakazam abracadabra"


def transition_matrix(text):
    letters = sorted(set(text))
    idx = {c: i for i, c in enumerate(letters)}
    counts = np.zeros((len(letters), len(letters)), dtype=np.int64)
    for a, b in zip(text, text[1:]):
        counts[idx[a], idx[b]] += 1
    totals = counts.sum(axis=1, keepdims=True)
    probs = np.divide(counts, totals, out=np.zeros(counts.shape), where=totals != 0)
    return letters, probs


def generate(letters, P, start, length, rng):
    out = [start]
    i = letters.index(start)
    for _ in range(length - 1):
        i = rng.choice(len(letters), p=P[i])
        out.append(letters[i])
    return "".join(out)


letters, P = transition_matrix(corpus)
print(repr("".join(letters)))
print(P.round(2))
assert np.allclose(P.sum(axis=1), 1)
rng = np.random.default_rng(17)
print(generate(letters, P, "a", 20, rng))
entropy = -np.sum(np.where(P > 0, P * np.log2(np.where(P > 0, P, 1)), 0), axis=1)
print({c if c != " " else "space": round(float(e), 3) for c, e in zip(letters, entropy)})
