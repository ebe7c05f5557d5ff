"""Byte-level BPE, after minbpe."""
from collections import Counter
import numpy as np


def get_stats(ids, counts=None):
    counts = {} if counts is None else counts
    for pair in zip(ids, ids[1:]):
        counts[pair] = counts.get(pair, 0) + 1
    return counts


def merge(ids, pair, idx):
    newids = []
    i = 0
    while i < len(ids):
        if ids[i] == pair[0] and i < len(ids) - 1 and ids[i + 1] == pair[1]:
            newids.append(idx)
            i += 2
        else:
            newids.append(ids[i])
            i += 1
    return newids


class BasicTokenizer:
    def __init__(self):
        self.merges = {}
        self.vocab = {idx: bytes([idx]) for idx in range(256)}

    def train(self, text, vocab_size, verbose=False):
        assert vocab_size >= 256
        ids = list(text.encode("utf-8"))
        for i in range(vocab_size - 256):
            stats = get_stats(ids)
            pair = max(stats, key=stats.get)
            idx = 256 + i
            ids = merge(ids, pair, idx)
            self.merges[pair] = idx
            self.vocab[idx] = self.vocab[pair[0]] + self.vocab[pair[1]]
            if verbose:
                print(f"merge {i+1}/{vocab_size-256}: {pair} -> {idx} ({self.vocab[idx]}) had {stats[pair]} occurrences")

    def decode(self, ids):
        return b"".join(self.vocab[idx] for idx in ids).decode("utf-8", errors="replace")

    def encode(self, text):
        ids = list(text.encode("utf-8"))
        while len(ids) >= 2:
            stats = get_stats(ids)
            pair = min(stats, key=lambda p: self.merges.get(p, float("inf")))
            if pair not in self.merges:
                break
            ids = merge(ids, pair, self.merges[pair])
        return ids


text = "the cat sat on the mat, the cat ate the rat; naïve café ☕ " * 2
tok = BasicTokenizer()
tok.train(text, 256 + 12, verbose=True)
ids = tok.encode("the naïve rat sat ☕")
print(ids, len(ids))
print(tok.decode(ids))
arr = np.array(tok.encode(text))
freq = np.bincount(arr, minlength=268)
top = np.argsort(-freq, kind="stable")[:5]
print([(int(i), tok.vocab[int(i)], int(freq[i])) for i in top])
p = freq[freq > 0] / freq.sum()
print(f"entropy {-(p * np.log2(p)).sum():.4f} bits, ratio {len(text.encode()) / arr.size:.3f}")
print(Counter(len(tok.vocab[i]) for i in arr.tolist()))
