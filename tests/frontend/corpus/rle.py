import numpy as np
a = np.array([1, 1, 2, 2, 2, 3, 1, 1])
edges = np.flatnonzero(np.diff(a)) + 1
starts = np.r_[0, edges]
lengths = np.diff(np.r_[starts, len(a)])
print(list(zip(a[starts].tolist(), lengths.tolist())))
