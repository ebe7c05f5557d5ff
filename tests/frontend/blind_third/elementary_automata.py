import numpy as np


def rule_table(number):
    return np.array([(number >> i) & 1 for i in range(8)], dtype=np.uint8)


def evolve(rule, width, steps):
    table = rule_table(rule)
    state = np.zeros(width, dtype=np.uint8)
    state[width // 2] = 1
    history = [state]
    for _ in range(steps - 1):
        idx = (np.roll(state, 1) << 2) | (state << 1) | np.roll(state, -1)
        state = table[idx]
        history.append(state)
    return np.array(history)


for rule in (30, 90, 110):
    grid = evolve(rule, 31, 12)
    print(f"rule {rule}: population {grid.sum(axis=1).tolist()}")
for row in evolve(90, 31, 8):
    print("".join(".#"[c] for c in row).rstrip("."))
