import hashlib
import json
from dataclasses import asdict, dataclass, field

import numpy as np


def fnv1a(text):
    h = 0x811C9DC5
    for ch in text.encode():
        h = ((h ^ ch) * 0x01000193) % (1 << 32)
    return h


@dataclass
class Block:
    index: int
    amount: float
    prev: int
    nonce: int = 0
    history: list = field(default_factory=list, repr=False)

    def digest(self):
        return fnv1a(f"{self.index}|{self.amount:.2f}|{self.prev}|{self.nonce}")

    def mine(self, bits):
        while self.digest() >> (32 - bits):
            self.nonce += 1
        return self


rng = np.random.default_rng(2)
chain = [Block(0, 0.0, 0).mine(4)]
for i, amount in enumerate(rng.uniform(1, 100, 4).round(2), start=1):
    chain.append(Block(i, float(amount), chain[-1].digest()).mine(4))
for b in chain:
    print(b, f"{b.digest():08x}")
valid = all(b.prev == a.digest() for a, b in zip(chain, chain[1:]))
print("valid:", valid)
chain[2].amount += 1
print("after tampering:", all(b.prev == a.digest() for a, b in zip(chain, chain[1:])))
print(sorted(asdict(chain[1]))[:3], sum(b.nonce for b in chain))
