import numpy as np
from abc import ABC, abstractmethod


class Agent(ABC):
    def __init__(self, k):
        self.k = k
        self.counts = np.zeros(k, dtype=int)
        self.values = np.zeros(k)

    @abstractmethod
    def select(self, t, rng):
        ...

    def update(self, arm, reward):
        self.counts[arm] += 1
        self.values[arm] += (reward - self.values[arm]) / self.counts[arm]


class EpsilonGreedy(Agent):
    def __init__(self, k, eps=0.1):
        super().__init__(k)
        self.eps = eps

    def select(self, t, rng):
        if rng.random() < self.eps:
            return rng.integers(self.k)
        return np.argmax(self.values)


class UCB1(Agent):
    def select(self, t, rng):
        if (self.counts == 0).any():
            return int(np.argmin(self.counts))
        return int(np.argmax(self.values + np.sqrt(2 * np.log(t + 1) / self.counts)))


def run(agent, means, steps, rng):
    total = 0.0
    for t in range(steps):
        arm = agent.select(t, rng)
        reward = rng.normal(means[arm], 1.0)
        agent.update(arm, reward)
        total += reward
    return total / steps


means = np.array([0.1, 0.5, 0.9, 0.3])
for agent in [EpsilonGreedy(4), UCB1(4)]:
    avg = run(agent, means, 150, np.random.default_rng(8))
    print(type(agent).__name__, "average reward %.3f" % avg, "pulls", agent.counts)
