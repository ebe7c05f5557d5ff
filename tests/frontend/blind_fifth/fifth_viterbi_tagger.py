from collections import Counter, defaultdict
from itertools import chain, pairwise
import numpy as np

CORPUS = """
the/DT dog/NN chased/VB the/DT cat/NN
a/DT cat/NN saw/VB a/DT bird/NN
the/DT bird/NN sang/VB
the/DT old/JJ dog/NN saw/VB the/DT small/JJ bird/NN
a/DT small/JJ cat/NN sang/VB
"""


class HMMTagger:
    def __init__(self, alpha=0.1):
        self.alpha = alpha

    def fit(self, sentences):
        self.tags = sorted({t for s in sentences for _, t in s})
        self.vocab = sorted({w for s in sentences for w, _ in s})
        self.tag_id = {t: i for i, t in enumerate(self.tags)}
        self.word_id = {w: i for i, w in enumerate(self.vocab)}
        K, V = len(self.tags), len(self.vocab)
        A = np.full((K, K), self.alpha)
        B = np.full((K, V + 1), self.alpha)
        pi = np.full(K, self.alpha)
        for s in sentences:
            pi[self.tag_id[s[0][1]]] += 1
            for (_, a), (_, b) in pairwise(s):
                A[self.tag_id[a], self.tag_id[b]] += 1
            for w, t in s:
                B[self.tag_id[t], self.word_id[w]] += 1
        self.logA = np.log(A / A.sum(1, keepdims=True))
        self.logB = np.log(B / B.sum(1, keepdims=True))
        self.logpi = np.log(pi / pi.sum())
        return self

    def decode(self, words):
        obs = [self.word_id.get(w, len(self.vocab)) for w in words]
        T, K = len(obs), len(self.tags)
        delta = np.empty((T, K))
        psi = np.zeros((T, K), dtype=int)
        delta[0] = self.logpi + self.logB[:, obs[0]]
        for t in range(1, T):
            scores = delta[t - 1][:, None] + self.logA
            psi[t] = scores.argmax(axis=0)
            delta[t] = scores.max(axis=0) + self.logB[:, obs[t]]
        path = [int(delta[-1].argmax())]
        for t in range(T - 1, 0, -1):
            path.append(int(psi[t, path[-1]]))
        return [self.tags[i] for i in reversed(path)], delta[-1].max()


sentences = [[tuple(tok.rsplit("/", 1)) for tok in line.split()] for line in CORPUS.strip().splitlines()]
tagger = HMMTagger().fit(sentences)
counts = Counter(chain.from_iterable((t for _, t in s) for s in sentences))
print(counts.most_common())
for text in ("the cat chased a small bird", "a dog sang", "the robot saw the old cat"):
    tags, logp = tagger.decode(text.split())
    print(" ".join(f"{w}/{t}" for w, t in zip(text.split(), tags)), f"{logp:.4f}")
by_tag = defaultdict(set)
for w, t in chain.from_iterable(sentences):
    by_tag[t].add(w)
for t in tagger.tags:
    print(f"{t:<3}|", ", ".join(sorted(by_tag[t])))
np.set_printoptions(precision=3, suppress=True)
print(np.exp(tagger.logA))
