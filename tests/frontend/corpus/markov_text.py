import numpy as np

states = ["sunny", "cloudy", "rainy"]
P = np.array([[0.7, 0.2, 0.1], [0.3, 0.4, 0.3], [0.2, 0.3, 0.5]])
assert np.allclose(P.sum(axis=1), 1)
rng = np.random.default_rng(12345)
state = 0
sequence = [states[state]]
for _ in range(10):
    state = rng.choice(3, p=P[state])
    sequence.append(states[state])
print(" ".join(sequence))
vals, vecs = np.linalg.eig(P.T)
pi = np.real(vecs[:, np.argmax(np.real(vals))])
pi = pi / pi.sum()
print(dict(zip(states, pi.round(4))))
print(np.linalg.matrix_power(P, 50)[0].round(4))
