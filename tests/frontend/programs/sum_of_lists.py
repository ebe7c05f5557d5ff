import numpy as np
print(sum([[1], [2]], []), sum((i for i in range(3)), 10), sum([np.ones(2), np.arange(2)]), sum([], start=5), max([[1], [2]], key=len), min(3, 2, 5), max("b", "a"))
