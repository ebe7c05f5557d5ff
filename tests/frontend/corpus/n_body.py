import numpy as np
G = 1.0
pos = np.array([[0., 0.], [1., 0.], [0., 2.]]); vel = np.zeros_like(pos); m = np.array([5., 1., 2.])
def acc(pos):
    a = np.zeros_like(pos)
    for i in range(len(pos)):
        for j in range(len(pos)):
            if i == j: continue
            r = pos[j] - pos[i]
            a[i] += G * m[j] * r / (np.dot(r, r) + 0.01) ** 1.5
    return a
for _ in range(50):
    vel += acc(pos) * 0.01
    pos += vel * 0.01
print(pos, vel)
