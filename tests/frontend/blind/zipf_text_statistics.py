import string
from collections import Counter

import numpy as np

TEXT = """It was the best of times, it was the worst of times, it was the age of wisdom,
it was the age of foolishness, it was the epoch of belief, it was the epoch of incredulity,
it was the season of Light, it was the season of Darkness, it was the spring of hope,
it was the winter of despair."""


def tokens(text):
    table = str.maketrans("", "", string.punctuation)
    return text.lower().translate(table).split()


words = tokens(TEXT)
counts = Counter(words)
ranked = counts.most_common()
freq = np.array([c for _, c in ranked], dtype=float)
rank = np.arange(1, len(freq) + 1)
slope, intercept = np.polyfit(np.log(rank), np.log(freq), 1)
print(f"{len(words)} tokens, {len(counts)} types, ttr {len(counts) / len(words):.3f}")
print(f"zipf exponent {-slope:.3f}")
p = freq / freq.sum()
print("entropy %.4f bits, perplexity %.2f" % (-(p @ np.log2(p)), 2 ** -(p @ np.log2(p))))
lengths = np.array([len(w) for w in words])
hist, edges = np.histogram(lengths, bins=range(1, 14))
for n, e in zip(hist, edges):
    if n:
        print(f"{e:2d} {'#' * n}")
bigrams = Counter(zip(words, words[1:]))
for (a, b), n in bigrams.most_common(3):
    pmi = np.log2(n / len(words) / (counts[a] / len(words) * counts[b] / len(words)))
    print(f"{a} {b}: {n} pmi={pmi:.3f}")
longest = max(words, key=len)
print(longest.title(), longest[::-1], longest.count("s"), sorted(set(longest)))
