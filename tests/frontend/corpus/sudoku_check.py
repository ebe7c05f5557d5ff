import numpy as np
g = np.array([[(i * 3 + i // 3 + j) % 9 + 1 for j in range(9)] for i in range(9)])
ok = all(len(set(r)) == 9 for r in g.tolist()) and all(len(set(c)) == 9 for c in g.T.tolist())
print(ok)
