import numpy as np
x = np.arange(6)
even, big = x % 2 == 0, x > 3
print(even & big, even | big, ~even, even ^ big, np.logical_and(even, big), np.logical_or(even, x), np.logical_not(x), np.logical_xor(even, big), even.sum(), even * 2, even + big)
print(np.where(even & ~big, x, -x), (even == big).all(), True and x.size, 0 or "zero", None or [], not [], bool([0]), even.astype(float).mean())
