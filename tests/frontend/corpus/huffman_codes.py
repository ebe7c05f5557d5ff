import heapq
import numpy as np
from itertools import count

def huffman(freqs):
    tie = count()
    heap = [(f, next(tie), s) for s, f in freqs.items()]
    heapq.heapify(heap)
    while len(heap) > 1:
        f1, _, a = heapq.heappop(heap)
        f2, _, b = heapq.heappop(heap)
        heapq.heappush(heap, (f1 + f2, next(tie), (a, b)))
    codes = {}
    def walk(node, prefix):
        if isinstance(node, tuple):
            walk(node[0], prefix + "0"); walk(node[1], prefix + "1")
        else:
            codes[node] = prefix or "0"
    walk(heap[0][2], "")
    return codes

msg = "abracadabra alakazam"
syms, counts = np.unique(list(msg), return_counts=True)
freqs = dict(zip(syms.tolist(), counts.tolist()))
codes = huffman(freqs)
bits = "".join(codes[c] for c in msg)
p = counts / counts.sum()
H = -(p * np.log2(p)).sum()
print(len(bits), f"{H * len(msg):.3f}")
inv = {v: k for k, v in codes.items()}
out, cur = [], ""
for b in bits:
    cur += b
    if cur in inv:
        out.append(inv[cur]); cur = ""
print("".join(out) == msg)
arr = np.frombuffer(bits.encode(), dtype=np.uint8) - ord("0")
print(np.packbits(arr)[:5], arr.mean().round(3))
