import numpy as np


def stats(*arrays, weights=None, **options):
    rounding = options.pop("digits", 2)
    if options:
        raise TypeError(f"unexpected {sorted(options)}")
    out = {}
    for i, a in enumerate(arrays):
        w = None if weights is None else weights[: len(a)]
        out[f"a{i}"] = round(float(np.average(a, weights=w)), rounding)
    return out


def combine(first, /, *rest, op="add", dtype=None):
    f = getattr(np, op)
    res = np.asarray(first, dtype=dtype)
    for r in rest:
        res = f(res, r)
    return res


def describe(name, *, unit="m", **fields):
    body = ", ".join(f"{k}={v!r}" for k, v in sorted(fields.items()))
    return f"{name}[{unit}]({body})"


a, b, c = np.arange(4), np.linspace(0, 1, 4), [3, 1, 4, 1, 5]
print(stats(a, b, c))
print(stats(*[a, b], weights=np.array([1, 2, 3, 4]), digits=4))
print(combine(a, b, b, op="multiply"), combine([1, 2], [3, 4], op="maximum", dtype=float))
print(describe("rod", length=2.5, tags=("x", "y")), describe("bar", unit="s"))
try:
    stats(a, colour="red")
except TypeError as e:
    print(e)
first, *middle, last = c
print(first, middle, last)
(x, y), z = divmod(17, 5), [*c, *b[:1]]
print(x, y, z)
kw = {"axis": 1, "keepdims": True}
print(np.sum(np.ones((2, 3)), **kw), np.stack((a, a), **{"axis": -1}).shape)
print(*map(lambda p, q: p * q, a, a), sep=" | ", end=".\n")
