from collections import OrderedDict, defaultdict
import numpy as np
class Vocab(dict):
    def __missing__(self, w):
        self[w] = len(self); return self[w]
    def encode(self, text): return np.array([self[w] for w in text.split()])
    def decode(self, ids):
        inv = {i: w for w, i in self.items()}
        return " ".join(inv[int(i)] for i in ids)
v = Vocab(); ids = v.encode("a b a c b"); print(ids, v.decode(ids), len(v), "a" in v, v, v.get("zz", -1), sorted(v), isinstance(v, dict), v == {"a": 0, "b": 1, "c": 2})
class Stack(list):
    def push(self, x): self.append(x); return self
    def peek(self): return self[-1]
    @property
    def total(self): return sum(self)
s = Stack([1, 2]); s.push(5).push(7); print(s, s.peek(), s.pop(), s.total, len(s), s[1:], s[0], list(reversed(s)), 5 in s, [x * 2 for x in s], s.index(5), max(s), isinstance(s, list), bool(Stack()))
s[0] = 9; del s[1]; s.extend([3, 1]); s.sort(); print(s, s == [1, 3, 5, 9], Stack([1]) == Stack([1]))
class Config(dict):
    def __init__(self, **kw):
        super().__init__(**kw)
        self.touched = []
    def __getattr__(self, k):
        if k in self: return self[k]
        raise AttributeError(k)
    def __setitem__(self, k, val):
        self.touched.append(k); super().__setitem__(k, val)
c = Config(lr=0.1, n=3); c["lr"] = 0.5; print(c.lr, c.touched, c["n"], {**{"z": 1}}, hasattr(c, "no"), list(c.items()))
class Tally(defaultdict):
    def __init__(self): super().__init__(int)
t = Tally()
for ch in "banana": t[ch] += 1
print(dict(t.items()), t["q"], max(t, key=t.get))
