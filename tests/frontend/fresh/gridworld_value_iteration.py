import numpy as np

ROWS, COLS = 4, 4
ACTIONS = {"U": (-1, 0), "D": (1, 0), "L": (0, -1), "R": (0, 1)}
GOAL = (0, 3)
PIT = (1, 3)
WALL = (1, 1)


def step(state, action):
    if state in (GOAL, PIT):
        return state, 0.0
    dr, dc = ACTIONS[action]
    r = min(max(state[0] + dr, 0), ROWS - 1)
    c = min(max(state[1] + dc, 0), COLS - 1)
    nxt = (r, c)
    if nxt == WALL:
        nxt = state
    reward = -0.04
    if nxt == GOAL:
        reward = 1.0
    elif nxt == PIT:
        reward = -1.0
    return nxt, reward


def value_iteration(gamma=0.9, theta=1e-6):
    V = np.zeros((ROWS, COLS))
    sweeps = 0
    while True:
        delta = 0
        for r in range(ROWS):
            for c in range(COLS):
                v = V[r, c]
                best = -np.inf
                for a in ACTIONS:
                    (nr, nc), rew = step((r, c), a)
                    best = max(best, rew + gamma * V[nr, nc])
                V[r, c] = best
                delta = max(delta, abs(v - V[r, c]))
        sweeps += 1
        if delta < theta:
            break
    return V, sweeps


V, sweeps = value_iteration()
print(f"{sweeps} sweeps")
print(np.round(V, 3))
policy = []
for r in range(ROWS):
    line = ""
    for c in range(COLS):
        if (r, c) == GOAL:
            line += "G"
        elif (r, c) == PIT:
            line += "P"
        elif (r, c) == WALL:
            line += "#"
        else:
            q = {a: step((r, c), a)[1] + 0.9 * V[step((r, c), a)[0]] for a in ACTIONS}
            line += max(q, key=q.get)
    policy.append(line)
print("\n".join(policy))
