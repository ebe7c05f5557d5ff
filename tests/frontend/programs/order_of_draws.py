import numpy as np
np.random.seed(1)
pairs = zip((np.random.randn(1) for _ in range(2)), (np.random.randn(1) for _ in range(2)))
for a, b in pairs:
    print(a, b)
x = {"second": np.random.randn(1), "third": np.random.randn(1)}
print(x["third"], x["second"])
