import numpy as np
vocab = {"the": 0, "cat": 1, "sat": 2}
text = "the cat sat the cat".split()
ids = np.array([vocab[w] for w in text])
onehot = np.eye(len(vocab))[ids]
counts = onehot.sum(axis=0).astype(int)
print(dict(zip(vocab, counts.tolist())))
