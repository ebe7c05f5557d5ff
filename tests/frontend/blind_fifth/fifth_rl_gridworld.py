import numpy as np
from enum import IntEnum
from typing import NamedTuple, Literal


class Action(IntEnum):
    UP = 0
    RIGHT = 1
    DOWN = 2
    LEFT = 3

    @property
    def delta(self):
        return ((-1, 0), (0, 1), (1, 0), (0, -1))[self]

    @property
    def arrow(self):
        return "^>v<"[self]


class Step(NamedTuple):
    state: int
    reward: float
    done: bool


class GridWorld:
    def __init__(self, layout: str):
        self.cells = np.array([list(l) for l in layout.split()])
        self.shape = self.cells.shape
        self.start = int(np.flatnonzero(self.cells.ravel() == "S")[0])

    def __len__(self):
        return self.cells.size

    def step(self, s, a: Action) -> Step:
        r, c = divmod(s, self.shape[1])
        dr, dc = a.delta
        nr, nc = min(max(r + dr, 0), self.shape[0] - 1), min(max(c + dc, 0), self.shape[1] - 1)
        if self.cells[nr, nc] == "#":
            nr, nc = r, c
        match self.cells[nr, nc]:
            case "G":
                return Step(nr * self.shape[1] + nc, 1.0, True)
            case "X":
                return Step(nr * self.shape[1] + nc, -1.0, True)
            case _:
                return Step(nr * self.shape[1] + nc, -0.02, False)


def q_learning(env, episodes=60, alpha=0.5, gamma=0.95, eps=0.2, seed=0, mode: Literal["q", "sarsa"] = "q"):
    rng = np.random.default_rng(seed)
    Q = np.zeros((len(env), len(Action)))
    lengths = []

    def policy(s):
        return Action(rng.integers(4)) if rng.random() < eps else Action(int(Q[s].argmax()))

    for ep in range(episodes):
        s, done, t = env.start, False, 0
        a = policy(s)
        while not done and t < 50:
            s2, r, done = env.step(s, a)
            a2 = policy(s2)
            target = r if done else r + gamma * (Q[s2].max() if mode == "q" else Q[s2, a2])
            Q[s, a] += alpha * (target - Q[s, a])
            s, a, t = s2, a2, t + 1
        lengths.append(t)
    return Q, lengths


env = GridWorld("S... .#.X ...G")
Q, lengths = q_learning(env)
print(lengths[:10], np.mean(lengths[-10:]))
greedy = Q.argmax(1).reshape(env.shape)
for r in range(env.shape[0]):
    print("".join(Action(int(greedy[r, c])).arrow if env.cells[r, c] in "S." else env.cells[r, c] for c in range(env.shape[1])))
print(Action.UP, repr(Action.DOWN), Action["LEFT"] + 1, [a.name.lower() for a in Action], Action(2) is Action.DOWN)
V = np.zeros(len(env))
for sweep in range(100):
    new = np.array([max(env.step(s, a).reward + (0 if env.step(s, a).done else 0.95 * V[env.step(s, a).state]) for a in Action) for s in range(len(env))])
    if np.abs(new - V).max() < 1e-6:
        break
    V = new
print(sweep, V.reshape(env.shape).round(3))
