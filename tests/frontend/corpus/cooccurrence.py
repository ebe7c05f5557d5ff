import re
from collections import Counter, defaultdict
import numpy as np

text = """the quick brown fox jumps over the lazy dog. The dog barks; the fox runs away!
A quick reaction, a lazy afternoon."""
tokens = re.findall(r"[a-z]+", text.lower())
freq = Counter(tokens)
vocab = {w: i for i, (w, _) in enumerate(freq.most_common())}
ids = np.array([vocab[t] for t in tokens])
cooc = np.zeros((len(vocab), len(vocab)), dtype=np.int64)
window = 2
for i, c in enumerate(ids):
    for j in range(max(0, i - window), min(len(ids), i + window + 1)):
        if i != j:
            cooc[c, ids[j]] += 1
u, s, vt = np.linalg.svd(np.log1p(cooc.astype(float)))
emb = u[:, :2] * s[:2]
print(emb.shape, np.round(s[:3], 4))
groups = defaultdict(list)
for w in vocab:
    groups[len(w)].append(w)
for k in sorted(groups):
    print(k, sorted(groups[k]))
print(cooc.sum(), np.trace(cooc), int((cooc == cooc.T).all()))
