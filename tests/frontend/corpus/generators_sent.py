import numpy as np
def window(seq, n):
    it = iter(seq)
    buf = []
    for x in it:
        buf.append(x)
        if len(buf) == n:
            yield tuple(buf)
            buf.pop(0)
def averager():
    total, n = 0.0, 0
    avg = None
    while True:
        x = yield avg
        total += x
        n += 1
        avg = total / n
def flat(x):
    for v in x:
        if isinstance(v, (list, tuple)):
            yield from flat(v)
        else:
            yield v
print(list(window(range(5), 3)))
a = averager(); next(a)
print([a.send(v) for v in (10, 20, 60)])
print(list(flat([1, [2, (3, [4])]])))
class Fib:
    def __init__(self, n): self.n, self.a, self.b = n, 0, 1
    def __iter__(self): return self
    def __next__(self):
        if self.n == 0:
            raise StopIteration
        self.n -= 1
        self.a, self.b = self.b, self.a + self.b
        return self.a
print(np.fromiter(Fib(10), dtype=np.int64))
