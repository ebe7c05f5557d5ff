from enum import Enum, IntEnum

import numpy as np


class Move(Enum):
    ROCK = 0
    PAPER = 1
    SCISSORS = 2

    def beats(self, other):
        return (self.value - other.value) % 3 == 1


class Level(IntEnum):
    LOW = 1
    HIGH = 10


rng = np.random.default_rng(5)
a = [Move(int(v)) for v in rng.integers(0, 3, 12)]
b = [Move(int(v)) for v in rng.choice(3, 12, p=[0.5, 0.25, 0.25])]
score = [0, 0, 0]
for m, n in zip(a, b):
    if m is n:
        score[1] += 1
    elif m.beats(n):
        score[0] += 1
    else:
        score[2] += 1
print(score, [m.name[0] for m in a], Level.HIGH > Level.LOW, Level.HIGH + 1)
print({m: a.count(m) for m in Move}[Move.ROCK], list(Move)[1])
payoff = np.array([[0, -1, 1], [1, 0, -1], [-1, 1, 0]])
print(payoff[[m.value for m in a], [m.value for m in b]].sum())
