import numpy as np
import matplotlib.pyplot as plt

alpha, beta, delta, gamma = 1.1, 0.4, 0.1, 0.4
dt = 0.01
steps = 2000
x = np.zeros(steps)
y = np.zeros(steps)
x[0], y[0] = 10.0, 5.0
for t in range(steps - 1):
    x[t + 1] = x[t] + dt * (alpha * x[t] - beta * x[t] * y[t])
    y[t + 1] = y[t] + dt * (delta * x[t] * y[t] - gamma * y[t])
print("prey range", x.min().round(3), x.max().round(3))
print("predators at the end", y[-1].round(3))
