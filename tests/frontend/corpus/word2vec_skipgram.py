import numpy as np

corpus = "the quick brown fox jumps over the lazy dog the fox".split()
vocab = sorted(set(corpus))
word2id = {w: i for i, w in enumerate(vocab)}
ids = [word2id[w] for w in corpus]
window = 2
pairs = []
for i, center in enumerate(ids):
    for j in range(max(0, i - window), min(len(ids), i + window + 1)):
        if i != j:
            pairs.append((center, ids[j]))
pairs = np.array(pairs)
np.random.seed(0)
V, D = len(vocab), 5
W_in = np.random.randn(V, D) * 0.1
W_out = np.random.randn(D, V) * 0.1
lr = 0.5
for epoch in range(3):
    total = 0.0
    h = W_in[pairs[:, 0]]
    scores = h @ W_out
    scores -= scores.max(axis=1, keepdims=True)
    probs = np.exp(scores)
    probs /= probs.sum(axis=1, keepdims=True)
    loss = -np.log(probs[np.arange(len(pairs)), pairs[:, 1]]).mean()
    probs[np.arange(len(pairs)), pairs[:, 1]] -= 1
    probs /= len(pairs)
    dW_out = h.T @ probs
    dh = probs @ W_out.T
    W_out -= lr * dW_out
    np.subtract.at(W_in, pairs[:, 0], lr * dh)
    print(f"epoch {epoch}: loss = {loss:.6f}")
print(vocab)
