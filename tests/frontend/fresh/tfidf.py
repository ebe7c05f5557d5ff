import numpy as np
from collections import Counter

documents = [
    "the quick brown fox jumps over the lazy dog",
    "never jump over the lazy dog quickly",
    "a fox is quick and a dog is lazy",
    "numpy arrays make vector math quick",
]


def tokenize(doc):
    return [w.strip(".,!?").lower() for w in doc.split()]


vocab = sorted({w for d in documents for w in tokenize(d)})
word_index = {w: i for i, w in enumerate(vocab)}

tf = np.zeros((len(documents), len(vocab)))
for i, doc in enumerate(documents):
    counts = Counter(tokenize(doc))
    for word, cnt in counts.items():
        tf[i, word_index[word]] = cnt
tf /= tf.sum(axis=1, keepdims=True)

df = np.count_nonzero(tf, axis=0)
idf = np.log((1 + len(documents)) / (1 + df)) + 1
tfidf = tf * idf
tfidf /= np.linalg.norm(tfidf, axis=1, keepdims=True)

similarity = tfidf @ tfidf.T
np.set_printoptions(precision=3)
print(similarity)
for i in range(len(documents)):
    top = np.argsort(-tfidf[i], kind="stable")[:3]
    print(i, [vocab[j] for j in top])
query = np.zeros(len(vocab))
for w in tokenize("quick fox"):
    if w in word_index:
        query[word_index[w]] += idf[word_index[w]]
scores = tfidf @ (query / np.linalg.norm(query))
print("best match:", documents[int(scores.argmax())])
