import numpy as np
rng = np.random.default_rng(0)
X = rng.normal(size=(20, 4)); X -= X.mean(0)
cov = X.T @ X / (len(X) - 1)
w, v = np.linalg.eigh(cov)
idx = np.argsort(w)[::-1]
print(w[idx])
