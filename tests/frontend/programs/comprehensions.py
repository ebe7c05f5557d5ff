import numpy as np
x = np.arange(12).reshape(3, 4)
rows = [r * 2 for r in x if True]
print(rows[0], len(rows))
print([i * j for i in range(3) for j in range(3) if i != j])
print({k: v**2 for k, v in zip("abc", range(3))})
print(sum(i for i in range(10)), sum([r.sum() for r in x]), tuple(i for i in range(3)), list(a + 1 for a in (1, 2)))
print([[j for j in range(i)] for i in range(4)])
i = "kept"
print([i for i in range(2)], i)
