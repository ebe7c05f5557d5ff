import numpy as np
import heapq, math, bisect
from collections import Counter, deque, OrderedDict, ChainMap
class LRU(OrderedDict):
    def __init__(self, cap): super().__init__(); self.cap = cap
    def get_or(self, k, f):
        if k in self: self.move_to_end(k); return self[k]
        v = f(k); self[k] = v
        if len(self) > self.cap: self.popitem(last=False)
        return v
c = LRU(2)
print([c.get_or(k, lambda x: x * x) for k in (1, 2, 1, 3, 2)], list(c))
class Trie:
    def __init__(self): self.root = {}
    def add(self, w):
        n = self.root
        for ch in w: n = n.setdefault(ch, {})
        n["$"] = True
    def find(self, p):
        n = self.root
        for ch in p:
            if ch not in n: return []
            n = n[ch]
        out = []
        def walk(n, s):
            for k in sorted(n):
                if k == "$": out.append(s)
                else: walk(n[k], s + k)
        walk(n, p); return out
t = Trie()
for w in "car card care cat dog".split(): t.add(w)
print(t.find("car"), t.find("x"))
class Heap:
    def __init__(self): self.a = []
    def push(self, x):
        self.a.append(x); i = len(self.a) - 1
        while i and self.a[(i - 1) // 2] > self.a[i]:
            self.a[i], self.a[(i - 1) // 2] = self.a[(i - 1) // 2], self.a[i]; i = (i - 1) // 2
    def pop(self):
        top = self.a[0]; last = self.a.pop()
        if self.a:
            self.a[0] = last; i = 0
            while (j := 2 * i + 1) < len(self.a):
                if j + 1 < len(self.a) and self.a[j + 1] < self.a[j]: j += 1
                if self.a[i] <= self.a[j]: break
                self.a[i], self.a[j] = self.a[j], self.a[i]; i = j
        return top
h = Heap()
for v in np.random.default_rng(1).permutation(8): h.push(int(v))
print([h.pop() for _ in range(8)])
def matrix_rank(M):
    M = [row[:] for row in M]; r = 0
    for c in range(len(M[0])):
        p = next((i for i in range(r, len(M)) if abs(M[i][c]) > 1e-12), None)
        if p is None: continue
        M[r], M[p] = M[p], M[r]
        for i in range(r + 1, len(M)):
            f = M[i][c] / M[r][c]; M[i] = [a - f * b for a, b in zip(M[i], M[r])]
        r += 1
    return r
print(matrix_rank([[1.0, 2, 3], [2, 4, 6], [1, 0, 1]]), np.linalg.matrix_rank(np.array([[1, 2, 3], [2, 4, 6], [1, 0, 1]])))
q = deque([1, 2, 3], maxlen=3); q.append(4); q.rotate(1); print(q, q[0], list(reversed(q)))
s = []; [bisect.insort(s, x) for x in (5, 1, 4)]; print(s, bisect.bisect_left(s, 4), math.comb(5, 2), math.perm(5, 2), math.prod([1, 2, 3]), math.gcd(12, 18), math.lcm(4, 6), math.isqrt(17), math.factorial(6), math.dist((0, 0), (3, 4)), math.fsum([0.1] * 10), math.log2(8), math.nextafter(1, 2) > 1)
