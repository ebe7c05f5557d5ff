import numpy as np

n_states, gamma, theta = 16, 0.95, 1e-6
terminal = {0, 15}
V = np.zeros(n_states)
moves = {"up": -4, "down": 4, "left": -1, "right": 1}


def next_state(s, move):
    row, col = divmod(s, 4)
    if move == "up" and row == 0 or move == "down" and row == 3:
        return s
    if move == "left" and col == 0 or move == "right" and col == 3:
        return s
    return s + moves[move]


sweeps = 0
while True:
    delta = 0
    for s in range(n_states):
        if s in terminal:
            continue
        v = V[s]
        V[s] = max(-1 + gamma * V[next_state(s, m)] for m in moves)
        delta = max(delta, abs(v - V[s]))
    sweeps += 1
    if delta < theta:
        break
print(sweeps)
print(V.reshape(4, 4).round(3))
policy = [max(moves, key=lambda m: V[next_state(s, m)]) if s not in terminal else "-" for s in range(n_states)]
print(policy)
