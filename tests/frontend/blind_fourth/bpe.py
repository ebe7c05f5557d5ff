"""Minimal byte pair encoding, trained on a toy text."""
from collections import Counter
import numpy as np


def get_stats(ids):
    counts = {}
    for pair in zip(ids, ids[1:]):
        counts[pair] = counts.get(pair, 0) + 1
    return counts


def merge(ids, pair, idx):
    newids = []
    i = 0
    while i < len(ids):
        if i < len(ids) - 1 and ids[i] == pair[0] and ids[i + 1] == pair[1]:
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
                print(f"merge {i+1}: {pair} -> {idx} ({self.vocab[idx]}) had {stats[pair]} occurrences")

    def decode(self, ids):
        text_bytes = b"".join(self.vocab[idx] for idx in ids)
        return text_bytes.decode("utf-8", errors="replace")

    def encode(self, text):
        ids = list(text.encode("utf-8"))
        while len(ids) >= 2:
            stats = get_stats(ids)
            pair = min(stats, key=lambda p: self.merges.get(p, float("inf")))
            if pair not in self.merges:
                break
            ids = merge(ids, pair, self.merges[pair])
        return ids


text = "the cat sat on the mat; the bat ate the cat. naïve café"
tok = BasicTokenizer()
tok.train(text, 256 + 12, verbose=True)
ids = tok.encode("the cat ate")
print(ids)
assert tok.decode(tok.encode(text)) == text
emb = np.random.RandomState(0).randn(268, 8).astype(np.float32)
vec = emb[ids].mean(axis=0)
sims = emb @ vec / (np.linalg.norm(emb, axis=1) * np.linalg.norm(vec) + 1e-9)
best = np.argsort(-sims)[:5]
print([(int(i), round(float(sims[i]), 4)) for i in best])
