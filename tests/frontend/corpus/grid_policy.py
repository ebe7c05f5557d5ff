import numpy as np
ROWS, COLS = 4, 5
ACTIONS = {"U": (-1, 0), "D": (1, 0), "L": (0, -1), "R": (0, 1)}
walls = {(1, 1), (1, 3)}
goal, pit = (0, 4), (1, 4)
gamma = 0.9
V = np.zeros((ROWS, COLS))
def move(s, a):
    r, c = s[0] + ACTIONS[a][0], s[1] + ACTIONS[a][1]
    if not (0 <= r < ROWS and 0 <= c < COLS) or (r, c) in walls:
        return s
    return (r, c)
for sweep in range(50):
    delta = 0
    for r in range(ROWS):
        for c in range(COLS):
            if (r, c) in walls or (r, c) in (goal, pit):
                continue
            best = max((-0.04 + gamma * (1 if s2 == goal else -1 if s2 == pit else V[s2])) for s2 in (move((r, c), a) for a in ACTIONS))
            delta = max(delta, abs(best - V[r, c]))
            V[r, c] = best
    if delta < 1e-4:
        break
print(sweep, V.round(2))
policy = [["#" if (r, c) in walls else "GX"[(r, c) == pit] if (r, c) in (goal, pit) else max(ACTIONS, key=lambda a: V[move((r, c), a)]) for c in range(COLS)] for r in range(ROWS)]
print("\n".join(" ".join(p) for p in policy))
