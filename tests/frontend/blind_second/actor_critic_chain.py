"""Tabular actor-critic on a short chain, softmax policy."""
import numpy as np

N, GAMMA, ALPHA, BETA = 6, 0.95, 0.2, 0.1
rng = np.random.default_rng(7)
theta = np.zeros((N, 2))
value = np.zeros(N)


def policy(s):
    z = np.exp(theta[s] - theta[s].max())
    return z / z.sum()


def step(s, a):
    nxt = min(s + 1, N - 1) if a == 1 else max(s - 1, 0)
    return nxt, 1.0 if nxt == N - 1 else -0.01, nxt == N - 1


returns = []
for episode in range(25):
    s, total, discount = 0, 0.0, 1.0
    for t in range(40):
        p = policy(s)
        a = int(rng.random() < p[1])
        nxt, r, done = step(s, a)
        td = r + (0 if done else GAMMA * value[nxt]) - value[s]
        value[s] += ALPHA * td
        grad = -p
        grad[a] += 1
        theta[s] += BETA * discount * td * grad
        total += r
        discount *= GAMMA
        s = nxt
        if done:
            break
    returns.append(total)
print("mean return first/last five: %.3f %.3f" % (np.mean(returns[:5]), np.mean(returns[-5:])))
print("greedy:", "".join("<>"[int(np.argmax(theta[s]))] for s in range(N)))
print(np.round(value, 3))
