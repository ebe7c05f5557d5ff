import numpy as np
rng = np.random.default_rng(7)
steps = rng.choice([-1, 1], size=(5, 100))
walks = steps.cumsum(axis=1)
hits = (np.abs(walks) >= 10)
first = np.where(hits.any(axis=1), hits.argmax(axis=1), -1)
print(walks[:, -1], first)
