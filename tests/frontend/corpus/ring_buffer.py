import numpy as np
class Ring:
    def __init__(self, n): self.buf = np.zeros(n); self.i = 0; self.full = False
    def push(self, v):
        self.buf[self.i] = v
        self.i = (self.i + 1) % len(self.buf)
        self.full |= self.i == 0
    def view(self):
        return np.concatenate([self.buf[self.i:], self.buf[:self.i]]) if self.full else self.buf[:self.i]
r = Ring(4)
for v in range(6): r.push(v * 1.5)
print(r.view(), r.view().mean())
