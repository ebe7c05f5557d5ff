import numpy as np
X = np.array([[0,0],[0,1],[1,0],[1,1]]); y = np.array([0,0,0,1])
w = np.zeros(3)
for epoch in range(20):
    errors = 0
    for xi, t in zip(X, y):
        xb = np.append(xi, 1)
        o = 1 if w @ xb > 0 else 0
        if o != t:
            w += (t - o) * xb
            errors += 1
    if errors == 0: break
print(epoch, w)
