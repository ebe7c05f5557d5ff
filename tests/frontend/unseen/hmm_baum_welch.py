import numpy as np

rng = np.random.default_rng(42)
N_STATES, N_SYMBOLS, T = 2, 3, 60


def normalise(M):
    return M / M.sum(axis=1, keepdims=True)


def forward(obs, pi, A, B):
    alpha = np.zeros((len(obs), len(pi)))
    c = np.zeros(len(obs))
    alpha[0] = pi * B[:, obs[0]]
    c[0] = 1 / alpha[0].sum()
    alpha[0] *= c[0]
    for t in range(1, len(obs)):
        alpha[t] = (alpha[t - 1] @ A) * B[:, obs[t]]
        c[t] = 1 / alpha[t].sum()
        alpha[t] *= c[t]
    return alpha, c


def backward(obs, A, B, c):
    beta = np.zeros((len(obs), A.shape[0]))
    beta[-1] = c[-1]
    for t in range(len(obs) - 2, -1, -1):
        beta[t] = c[t] * (A @ (B[:, obs[t + 1]] * beta[t + 1]))
    return beta


obs = rng.choice(N_SYMBOLS, size=T, p=[0.5, 0.3, 0.2])
pi = np.full(N_STATES, 1 / N_STATES)
A = normalise(rng.random((N_STATES, N_STATES)) + 0.5)
B = normalise(rng.random((N_STATES, N_SYMBOLS)) + 0.5)

history = []
for _ in range(5):
    alpha, c = forward(obs, pi, A, B)
    beta = backward(obs, A, B, c)
    gamma = alpha * beta / c[:, None]
    xi = np.zeros((N_STATES, N_STATES))
    for t in range(T - 1):
        xi += alpha[t][:, None] * A * B[:, obs[t + 1]] * beta[t + 1]
    pi = gamma[0] / gamma[0].sum()
    A = normalise(xi)
    for k in range(N_SYMBOLS):
        B[:, k] = gamma[obs == k].sum(axis=0)
    B = normalise(B)
    history.append(-np.log(c).sum())

print("log-likelihood:", ["%.4f" % h for h in history])
assert all(b >= a - 1e-9 for a, b in zip(history, history[1:]))
print(np.round(A, 3))
print(np.round(B, 3))
