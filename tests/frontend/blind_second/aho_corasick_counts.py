from collections import deque

import numpy as np


class Trie:
    def __init__(self, patterns):
        self.next = [{}]
        self.fail = [0]
        self.out = [[]]
        for i, p in enumerate(patterns):
            self._insert(p, i)
        self._link()
        self.patterns = patterns

    def _insert(self, word, index):
        node = 0
        for ch in word:
            if ch not in self.next[node]:
                self.next[node][ch] = len(self.next)
                self.next.append({})
                self.fail.append(0)
                self.out.append([])
            node = self.next[node][ch]
        self.out[node].append(index)

    def _link(self):
        queue = deque(self.next[0].values())
        while queue:
            node = queue.popleft()
            for ch, child in self.next[node].items():
                f = self.fail[node]
                while f and ch not in self.next[f]:
                    f = self.fail[f]
                self.fail[child] = self.next[f].get(ch, 0) if self.next[f].get(ch, 0) != child else 0
                self.out[child] += self.out[self.fail[child]]
                queue.append(child)

    def find(self, text):
        node = 0
        for pos, ch in enumerate(text):
            while node and ch not in self.next[node]:
                node = self.fail[node]
            node = self.next[node].get(ch, 0)
            for i in self.out[node]:
                yield pos - len(self.patterns[i]) + 1, self.patterns[i]


trie = Trie(["he", "she", "his", "hers"])
hits = list(trie.find("ushers and his fishershe"))
print(hits)
counts = np.zeros(len(trie.patterns), dtype=int)
for _, p in hits:
    counts[trie.patterns.index(p)] += 1
print(dict(zip(trie.patterns, counts.tolist())), "states", len(trie.next))
print("positions", np.array([p for p, _ in hits]), "spread", np.ptp([p for p, _ in hits]))
