# One width, two for every dimension, or two for each, nested as NumPy broadcasts them; and axes that are truth values.
import numpy as np

m = np.arange(6).reshape(2, 3)
for widths in (1, (1,), (1, 2), ((1,),), ((1, 2),), ((1,), (2,)), [[0, 1], [2, 3]], (True, 2)):
    print(np.pad(m, widths))
print(np.pad(m[0], ((1, 2),)), np.pad(np.float32(3), 1), np.pad(np.float32(3), (1, 2)))
print(np.sort(m, False), np.stack([m, m], True), np.flip(m, True), np.expand_dims(m, True).shape, np.linalg.norm(m, axis=True))
