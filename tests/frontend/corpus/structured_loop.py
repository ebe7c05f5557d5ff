import numpy as np
from collections import Counter, defaultdict
data = np.array([3, 1, 3, 2, 1, 3])
c = Counter(data.tolist())
groups = defaultdict(list)
for i, v in enumerate(data): groups[int(v)].append(i)
print(c.most_common(1), dict(groups))
