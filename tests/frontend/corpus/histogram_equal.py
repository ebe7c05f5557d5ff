import numpy as np
img = (np.arange(100) ** 2 % 256).astype(np.uint8).reshape(10, 10)
hist, bins = np.histogram(img.flatten(), 256, [0, 256])
cdf = hist.cumsum()
cdf_m = np.ma.masked_equal(cdf, 0)
print(cdf[-1])
