from __future__ import annotations
import math
import unicodedata
from collections import OrderedDict, ChainMap, defaultdict
import numpy as np

SPECIAL = {"<unk>": 0, "<s>": 1, "</s>": 2}


def normalize(text: str) -> str:
    text = unicodedata.normalize("NFKC", text)
    return "▁" + text.strip().replace(" ", "▁")


class Trie:
    def __init__(self):
        self.root: dict = {}

    def add(self, word, score):
        node = self.root
        for ch in word:
            node = node.setdefault(ch, {})
        node["\0"] = score

    def matches(self, text, start):
        node = self.root
        for end in range(start, len(text)):
            node = node.get(text[end])
            if node is None:
                return
            if "\0" in node:
                yield end + 1, node["\0"]


class Unigram:
    def __init__(self, pieces: dict[str, float], unk: float = -10.0):
        self.vocab = OrderedDict((p, i) for i, p in enumerate([*SPECIAL, *pieces]))
        self.inv = {i: p for p, i in self.vocab.items()}
        self.trie = Trie()
        for p, s in pieces.items():
            self.trie.add(p, s)
        self.unk = unk

    def encode(self, text: str, bos=True, eos=False) -> list[int]:
        s = normalize(text)
        n = len(s)
        best = [(-math.inf, None)] * (n + 1)
        best[0] = (0.0, None)
        for i in range(n):
            if best[i][0] == -math.inf:
                continue
            found = False
            for j, score in self.trie.matches(s, i):
                found |= j == i + 1
                if best[i][0] + score > best[j][0]:
                    best[j] = (best[i][0] + score, i)
            if not found and best[i][0] + self.unk > best[i + 1][0]:
                best[i + 1] = (best[i][0] + self.unk, i)
        out, j = [], n
        while j > 0:
            i = best[j][1]
            out.append(self.vocab.get(s[i:j], SPECIAL["<unk>"]))
            j = i
        ids = out[::-1]
        return [1] * bos + ids + [2] * eos

    def decode(self, ids):
        return "".join(self.inv[i] for i in ids if i not in SPECIAL.values()).replace("▁", " ").strip()


words = "▁the ▁cat ▁sat ▁on ▁ma t s ▁ a e h c".split()
pieces = {w: -math.log(2 + i) - 0.1 * (len(w) == 1) for i, w in enumerate(words)}
sp = Unigram(pieces)
for text in ["the cat sat", "cats  on the mat", "héllo"]:
    ids = sp.encode(text, eos=True)
    print(f"{text!r:>20} -> {ids} -> {sp.decode(ids)!r}")
table = np.zeros((len(sp.vocab), 6), np.float32)
pos = np.arange(len(sp.vocab))[:, None] / 10000 ** (2 * (np.arange(6) // 2) / 6)
table[:, 0::2] = np.sin(pos[:, 0::2])
table[:, 1::2] = np.cos(pos[:, 1::2])
print(table[sp.encode("the mat")].sum(0))
defaults = ChainMap({"lr": 0.1}, {"lr": 1, "wd": 0})
print(defaults["lr"], defaults["wd"])
groups = defaultdict(list)
for p in sp.vocab:
    groups[len(p)].append(p)
print({k: len(v) for k, v in sorted(groups.items())}, "é".encode(), chr(9601) == "▁", ord("a"))

