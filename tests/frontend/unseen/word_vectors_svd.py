import re
from collections import Counter

import numpy as np

text = """The cat sat on the mat. The dog sat on the log.
A cat and a dog are animals. The mat and the log are things!"""

tokens = re.findall(r"[a-z]+", text.lower())
stop = {"the", "a", "on", "and", "are"}
words = [w for w in tokens if w not in stop]
freq = Counter(words)
vocab = sorted(freq)
idx = {w: i for i, w in enumerate(vocab)}
window = 2
C = np.zeros((len(vocab), len(vocab)))
for i, w in enumerate(words):
    for j in range(max(0, i - window), min(len(words), i + window + 1)):
        if i != j:
            C[idx[w], idx[words[j]]] += 1

total = C.sum()
p = C.sum(axis=1) / total
with np.errstate(divide="ignore"):
    pmi = np.log(C / total / np.outer(p, p))
ppmi = np.maximum(pmi, 0)
U, S, _ = np.linalg.svd(ppmi)
vec = U[:, :3] * np.sqrt(S[:3])


def similarity(a, b):
    u, v = vec[idx[a]], vec[idx[b]]
    return u @ v / (np.linalg.norm(u) * np.linalg.norm(v) + 1e-12)


print(vocab)
print(freq.most_common(3))
for a, b in [("cat", "dog"), ("mat", "log"), ("cat", "things")]:
    print(f"{a:5s} {b:7s} {similarity(a, b):+.3f}")
