import heapq
from collections import Counter
from dataclasses import dataclass, field
from typing import Optional

import numpy as np


@dataclass(order=True)
class Node:
    weight: int
    order: int
    char: Optional[str] = field(default=None, compare=False)
    left: Optional["Node"] = field(default=None, compare=False)
    right: Optional["Node"] = field(default=None, compare=False)


def build(text):
    heap = [Node(w, i, c) for i, (c, w) in enumerate(sorted(Counter(text).items()))]
    heapq.heapify(heap)
    serial = len(heap)
    while len(heap) > 1:
        a, b = heapq.heappop(heap), heapq.heappop(heap)
        heapq.heappush(heap, Node(a.weight + b.weight, serial, left=a, right=b))
        serial += 1
    return heap[0]


def codes(node, prefix=""):
    if node.char is not None:
        return {node.char: prefix or "0"}
    return {**codes(node.left, prefix + "0"), **codes(node.right, prefix + "1")}


text = "the quick brown fox jumps over the lazy dog and the cat"
tree = build(text)
table = codes(tree)
bits = "".join(table[c] for c in text)
packed = np.packbits(np.array([int(b) for b in bits], dtype=np.uint8))
print(f"{len(text) * 8} bits -> {len(bits)} bits, {packed.nbytes} bytes")
unpacked = np.unpackbits(packed)[: len(bits)]
node, out = tree, []
for b in unpacked:
    node = node.right if b else node.left
    if node.char is not None:
        out.append(node.char)
        node = tree
print("".join(out) == text)
p = np.array(list(Counter(text).values())) / len(text)
print("entropy %.4f, mean length %.4f" % (-(p * np.log2(p)).sum(), len(bits) / len(text)))
for c in sorted(table, key=lambda c: (len(table[c]), c))[:6]:
    print(repr(c), table[c])
