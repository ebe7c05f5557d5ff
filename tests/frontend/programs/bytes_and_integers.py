import bisect
import math
import statistics
from collections import Counter

import numpy as np

data = b"123\x00\xff"
print(data, len(data), data[1], data[1:3], list(data), data.hex(), 0x31 in data, b"23" in data, data + b"!", b"ab" * 2)
print("grün".encode(), "abc".encode("ascii").decode(), bytes([65, 66]), np.frombuffer(b"\x01\x02\x00\x04", dtype=np.uint16))
print(np.arange(3, dtype=np.int16).tobytes(), isinstance(data, bytes), bool(b""), {b"k": 1}[b"k"])
print((10).bit_length(), (255).bit_count(), (2.0).is_integer(), 0.5.as_integer_ratio(), "-" * np.int64(3))
print(list(map(str.upper, ["a", "b"])), "a-b_c".translate(str.maketrans({"-": " ", "_": None})), dict.fromkeys("ab", 0))
print("abcabc".startswith(("x", "a")), "a b c d".split(" ", 2), "a,b,c".rsplit(",", 1), "x".rjust(4, "."), f"{[1, 2]!s:>8}|")
print("{:>{w}.{p}f}|{:<4}|".format(2.5, 7, w=8, p=2), "%-6s|" % f"{np.float64(1.25):.1f}")
words = ["b", "a", "c"]
words.remove("a")
bisect.insort(words, "bb")
print(words, bisect.bisect_left([1, 3, 5], 4), statistics.median([3, 1, 2]), round(statistics.stdev([1, 2, 4]), 6))
print(Counter("hello") + Counter(a=2, l=1), Counter("aab") - Counter("ab"), math.isclose(1, 1.1, rel_tol=0.2), math.modf(2.5))
print(np.array([5, 3, 8]).compress([1, 0, 1]), np.iscomplexobj([1j]), np.trim_zeros([0, 1, 0]), 2 in np.arange(3), 7 not in np.arange(3))
