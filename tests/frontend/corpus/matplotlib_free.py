import numpy as np
import math
import itertools
pts = np.array(list(itertools.product(range(3), repeat=2)))
d = np.sqrt(((pts[:, None] - pts) ** 2).sum(-1))
i, j = np.unravel_index(d.argmax(), d.shape)
print(pts[i], pts[j], math.isclose(d.max(), math.sqrt(8)))
