import numpy as np


class UCB1:
    def __init__(self, n_arms, c=2.0):
        self.counts = np.zeros(n_arms)
        self.values = np.zeros(n_arms)
        self.c = c

    def select(self, t):
        if t < len(self.counts):
            return t
        bonus = np.sqrt(self.c * np.log(t + 1) / self.counts)
        return int(np.argmax(self.values + bonus))

    def update(self, arm, reward):
        self.counts[arm] += 1
        self.values[arm] += (reward - self.values[arm]) / self.counts[arm]


probs = [0.2, 0.5, 0.75]
rng = np.random.default_rng(99)
rewards = (rng.random((60, 3)) < probs).astype(float)
agent = UCB1(3)
total = 0.0
for t in range(60):
    arm = agent.select(t)
    r = rewards[t, arm]
    agent.update(arm, r)
    total += r
print(agent.counts, agent.values.round(3), total)
