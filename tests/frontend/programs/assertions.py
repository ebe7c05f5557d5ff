import numpy as np
x = np.ones((2, 3))
assert x.shape == (2, 3), f"shape {x.shape}"
assert x.ndim == 2 and len(x) == 2
assert isinstance(x, np.ndarray) and isinstance(3, int) and not isinstance("s", (list, tuple))
if x.shape[0] != 2:
    raise ValueError(f"bad shape {x.shape}")
print("fine")
