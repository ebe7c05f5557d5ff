import numpy as np

np.random.seed(1)
N = 4
ACTIONS = [(-1, 0), (1, 0), (0, -1), (0, 1)]
Q = np.zeros((N, N, 4))
goal = (3, 3)


def step(s, a):
    y = min(max(s[0] + ACTIONS[a][0], 0), N - 1)
    x = min(max(s[1] + ACTIONS[a][1], 0), N - 1)
    return (y, x), (1.0 if (y, x) == goal else -0.04)


for episode in range(4):
    s = (0, 0)
    for t in range(15):
        if np.random.rand() < 0.3:
            a = np.random.randint(4)
        else:
            a = np.argmax(Q[s])
        s2, r = step(s, a)
        Q[s][a] += 0.5 * (r + 0.9 * Q[s2].max() - Q[s][a])
        s = s2
        if s == goal:
            break
print(Q.max(axis=2).round(3))
