"""DC analysis of a resistor network by nodal analysis."""
import numpy as np

# (node a, node b, ohms); node 0 is ground
resistors = [(1, 2, 100.0), (2, 0, 220.0), (2, 3, 330.0), (3, 0, 470.0), (1, 3, 1000.0)]
sources = {1: 0.05}  # amps into node

n_nodes = max(max(a, b) for a, b, _ in resistors)
G = np.zeros((n_nodes, n_nodes))
for a, b, ohms in resistors:
    g = 1.0 / ohms
    for node in (a, b):
        if node > 0:
            G[node - 1, node - 1] += g
    if a > 0 and b > 0:
        G[a - 1, b - 1] -= g
        G[b - 1, a - 1] -= g

I = np.zeros(n_nodes)
for node, amps in sources.items():
    I[node - 1] = amps

V = np.linalg.solve(G, I)
for i, v in enumerate(V, 1):
    print(f"node {i}: {v:8.4f} V")

power = 0
for a, b, ohms in resistors:
    va = V[a - 1] if a else 0.0
    vb = V[b - 1] if b else 0.0
    i = (va - vb) / ohms
    power += i**2 * ohms
    print(f"R{a}{b}: {i * 1e3:+.3f} mA")
assert abs(power - (V * I).sum()) < 1e-9
print("condition number: %.3f" % np.linalg.cond(G))
