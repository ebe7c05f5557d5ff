import re
import numpy as np

train = [
    ("I love this movie, it is great!", 1),
    ("What a wonderful, wonderful film", 1),
    ("Terrible plot and bad acting", 0),
    ("I hate this bad movie", 0),
    ("Great acting and a great story", 1),
    ("A terrible, boring waste of time", 0),
]


def words(s):
    return re.findall(r"[a-z']+", s.lower())


vocab = {}
for sentence, _ in train:
    for w in words(sentence):
        vocab.setdefault(w, len(vocab))


def vectorize(s):
    v = np.zeros(len(vocab), dtype=np.float32)
    for w in words(s):
        if w in vocab:
            v[vocab[w]] += 1
    return v


X = np.stack([vectorize(s) for s, _ in train])
y = np.array([label for _, label in train], dtype=np.float32)
w = np.zeros(X.shape[1], dtype=np.float32)
b = np.float32(0)
for epoch in range(30):
    for xi, yi in zip(X, y):
        p = 1 / (1 + np.exp(-(xi @ w + b)))
        w += 0.3 * (yi - p) * xi
        b += np.float32(0.3) * (yi - p)
print("vocabulary:", len(vocab))
for s in ["a great film", "boring and bad"]:
    score = float(1 / (1 + np.exp(-(vectorize(s) @ w + b))))
    print(f"{s!r}: {'positive' if score > 0.5 else 'negative'} ({score:.3f})")
top = sorted(vocab, key=lambda t: w[vocab[t]])
print("most negative:", top[:2], "most positive:", top[-2:])
