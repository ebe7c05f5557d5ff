import numpy as np


class Corridor:
    def __init__(self, n=6):
        self.n = n
        self.reset()

    def reset(self):
        self.pos = 0
        return self.pos

    def step(self, action):
        self.pos = max(0, self.pos - 1) if action == 0 else self.pos + 1
        done = self.pos == self.n - 1
        return self.pos, (1.0 if done else -0.01), done


def train(episodes=30, alpha=0.5, gamma=0.95, eps=0.2, seed=0):
    rng = np.random.default_rng(seed)
    env = Corridor()
    Q = np.zeros((env.n, 2))
    lengths = []
    for ep in range(episodes):
        s = env.reset()
        for t in range(60):
            if rng.random() < eps or Q[s, 0] == Q[s, 1]:
                a = rng.integers(2)
            else:
                a = Q[s].argmax()
            s2, r, done = env.step(a)
            Q[s, a] += alpha * (r + gamma * (0 if done else Q[s2].max()) - Q[s, a])
            s = s2
            if done:
                break
        lengths.append(t + 1)
    return Q, lengths


Q, lengths = train()
print("first episodes:", lengths[:5])
print("last episodes:", lengths[-5:])
print(np.round(Q, 3))
print("greedy:", ["LR"[a] for a in Q.argmax(axis=1)])
