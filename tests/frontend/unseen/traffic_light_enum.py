from enum import Enum, auto

import numpy as np


class State(Enum):
    RED = auto()
    GREEN = auto()
    YELLOW = auto()


NEXT = {State.RED: State.GREEN, State.GREEN: State.YELLOW, State.YELLOW: State.RED}
DURATION = {State.RED: 4, State.GREEN: 5, State.YELLOW: 1}


def simulate(steps, arrival_rate, seed=0):
    rng = np.random.default_rng(seed)
    state = State.RED
    left = DURATION[state]
    queue = 0
    passed = 0
    counts = {s: 0 for s in State}
    lengths = np.zeros(steps, dtype=int)
    for t in range(steps):
        queue += rng.poisson(arrival_rate)
        if state is State.GREEN and queue > 0:
            out = min(queue, 2)
            queue -= out
            passed += out
        counts[state] += 1
        lengths[t] = queue
        left -= 1
        if left == 0:
            state = NEXT[state]
            left = DURATION[state]
    return lengths, passed, counts


lengths, passed, counts = simulate(60, 0.6)
print("mean queue", lengths.mean(), "max", lengths.max())
print("passed", passed)
for s, n in counts.items():
    print(s.name.ljust(7), n)
