import itertools
import operator
from functools import reduce

import numpy as np


def compose(*fs):
    return lambda x: reduce(lambda acc, f: f(acc), fs, x)


def stats(*arrays, ddof=0, **named):
    out = {}
    for i, a in enumerate(arrays):
        out[f"arg{i}"] = (a.mean(), a.std(ddof=ddof))
    out.update({k: (v.mean(), v.std(ddof=ddof)) for k, v in named.items()})
    return out


pipeline = compose(np.sort, np.diff, np.abs, lambda x: x[x > 1])
print(pipeline(np.array([9, 1, 4, 4, 7, 20])))
for key, (m, s) in stats(np.arange(5), np.ones(3), ddof=1, ramp=np.linspace(0, 1, 11)).items():
    print(f"{key:>6}: mean={m:.3f} std={s:.3f}")
a, *mid, z = range(6)
print(a, mid, z, [*mid, *"xy"], {**{"p": 1}, "q": 2})
print(list(itertools.accumulate([1, 2, 3, 4], operator.mul)), list(itertools.combinations("abcd", 2))[:4])
for key, grp in itertools.groupby(sorted(["pear", "fig", "plum", "kiwi", "nut"], key=len), key=len):
    print(key, list(grp))
print(dict(zip("abc", itertools.count(5))), list(itertools.product([0, 1], repeat=2)), list(itertools.chain([1], (2, 3))))
