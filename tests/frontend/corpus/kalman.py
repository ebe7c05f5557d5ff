import numpy as np
dt = 0.1
F = np.array([[1, dt], [0, 1]]); H = np.array([[1, 0]])
Q = np.eye(2) * 0.01; R = np.array([[0.5]])
x = np.zeros((2, 1)); P = np.eye(2)
rng = np.random.default_rng(3)
out = []
for k in range(20):
    z = k * dt * 2 + rng.normal()
    x = F @ x
    P = F @ P @ F.T + Q
    S = H @ P @ H.T + R
    K = P @ H.T @ np.linalg.inv(S)
    x = x + K * (z - (H @ x)[0, 0])
    P = (np.eye(2) - K @ H) @ P
    out.append(x.ravel().tolist())
print(np.array(out)[-3:])
