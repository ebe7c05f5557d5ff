import numpy as np

pairs = [(2, "b"), (1, "z"), (2, "a")]
pairs.sort()
print(pairs, sorted(pairs, key=lambda p: p[1]), sorted(pairs, key=lambda p: (-p[0], p[1])))
names = ["cc", "a", "bbb"]
names.sort(key=len, reverse=True)
print(names, sorted(names), sorted({"k": 1, "a": 2}))
x = np.arange(6.0)
order = sorted(range(6), key=lambda i: (i % 2, -i))
print([x[i] for i in order])
