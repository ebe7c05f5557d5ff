import numpy as np

docs = ["the cat sat on the mat", "the dog chased the cat", "birds fly over the house"]
tokens = [d.split() for d in docs]
vocab = {}
for doc in tokens:
    for w in doc:
        if w not in vocab:
            vocab[w] = len(vocab)
tf = np.zeros((len(docs), len(vocab)))
for i, doc in enumerate(tokens):
    for w in doc:
        tf[i, vocab[w]] += 1
tf = tf / tf.sum(axis=1, keepdims=True)
df = (tf > 0).sum(axis=0)
idf = np.log(len(docs) / df) + 1
tfidf = tf * idf
norm = np.linalg.norm(tfidf, axis=1, keepdims=True)
unit = tfidf / norm
sim = unit @ unit.T
print(np.round(sim, 3))
inverse = {i: w for w, i in vocab.items()}
for i in range(len(docs)):
    top = np.argsort(-tfidf[i], kind="stable")[:2]
    print(i, [inverse[int(t)] for t in top])
