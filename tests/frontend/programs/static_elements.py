import numpy as np
sizes = np.array([2, 3])
for n in sizes:
    if n > 2:
        print("big", n)
print(np.zeros(sizes[1]).shape, list(range(sizes[0])), [10, 20, 30][sizes[0]], np.arange(3)[1] == 1, "yes" if sizes[0] == 2 else "no")
