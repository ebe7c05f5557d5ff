import numpy as np
from typing import Final, Literal, TypedDict, Protocol, ClassVar

Action = Literal["left", "right"]
ACTIONS: Final = ("left", "right")


class Config(TypedDict, total=False):
    alpha: float
    gamma: float
    eps: float


class Env(Protocol):
    def reset(self) -> int: ...
    def step(self, a: int) -> tuple[int, float, bool]: ...


class Corridor:
    n: ClassVar[int] = 6

    def reset(self):
        self.s = 0
        return self.s

    def step(self, a):
        self.s = max(0, min(self.n - 1, self.s + (1 if ACTIONS[a] == "right" else -1)))
        done = self.s == self.n - 1
        return self.s, (1.0 if done else -0.01), done


def greedy(q, rng):
    best = np.flatnonzero(q == q.max())
    return int(rng.choice(best))


def train(env: Env, cfg: Config, episodes: int = 15, seed: int = 0):
    rng = np.random.default_rng(seed)
    Q = np.zeros((Corridor.n, 2))
    lengths = []
    for ep in range(episodes):
        s, done, t = env.reset(), False, 0
        while not done and t < 60:
            a = int(rng.integers(2)) if rng.random() < cfg["eps"] else greedy(Q[s], rng)
            s2, r, done = env.step(a)
            target = r + (0 if done else cfg.get("gamma", 0.9) * Q[s2].max())
            Q[s, a] += cfg["alpha"] * (target - Q[s, a])
            s = s2
            t += 1
        lengths.append(t)
    return Q, lengths


Q, lengths = train(Corridor(), {"alpha": 0.5, "gamma": 0.95, "eps": 0.2})
print(np.array2string(Q, precision=3, suppress_small=True))
print(lengths)
policy = "".join("<>"[a] for a in Q.argmax(axis=1)[:-1])
print(f"{policy=}")
print(f"{lengths[-1]:>5d}|{Q.max():^10.3f}|{Q.mean():<10.2e}|")
