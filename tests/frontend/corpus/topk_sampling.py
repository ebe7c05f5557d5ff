import numpy as np
logits = np.array([1.0, 3.0, 0.2, 2.5]); k = 2
idx = np.argpartition(logits, -k)[-k:]
p = np.exp(logits[idx]) / np.exp(logits[idx]).sum()
print(np.sort(idx), np.sort(p))
