import numpy as np
vals = [3, -1, 4, -1, 5]
if (n := len(vals)) > 3:
    print(f"{n=}")
first, *mid, last = vals
print(first, mid, last, [*mid, *vals[:2]], {**{"a": 1}, "b": 2})
print([y for x in vals if (y := x ** 2) > 5], all(v > -2 for v in vals), any(v == 4 for v in vals))
sq = {v: v * v for v in set(vals)}
print(dict(sorted(sq.items())), min(sq, key=lambda k: (sq[k], k)), max(vals, default=0))
a = b = np.zeros(2)
a += 1
print(b, a is b)
for i, (u, w) in enumerate(zip(vals, vals[1:]), start=1):
    if u > w: continue
    print(i, u, w, end="; ")
else:
    print("end")
def f(a, /, b, *args, c=3, **kw): return a, b, args, c, kw
print(f(1, 2, 4, 5, c=6, z=7), f(*[1, 2], **{"q": 0}))
x = y = None
print(x is None and y is None, not x, 1 < 2 < 3, 5 // -2, -5 % 3, divmod(17, 5), round(2.5), abs(-3 + 4j))
print("yes" if vals and vals[0] else "no", "a" in "cat", [] or "empty", 0b101 ^ 0o7, 1_000)
