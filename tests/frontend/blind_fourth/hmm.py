import numpy as np

states = ["Rainy", "Sunny"]
obs_names = ("walk", "shop", "clean")
start = np.array([0.6, 0.4])
A = np.array([[0.7, 0.3], [0.4, 0.6]])
B = np.array([[0.1, 0.4, 0.5], [0.6, 0.3, 0.1]])


def viterbi(obs):
    T, S = len(obs), len(states)
    logA, logB = np.log(A), np.log(B)
    dp = np.full((T, S), -np.inf)
    back = np.zeros((T, S), dtype=np.intp)
    dp[0] = np.log(start) + logB[:, obs[0]]
    for t in range(1, T):
        cand = dp[t - 1][:, None] + logA
        back[t] = cand.argmax(0)
        dp[t] = cand.max(0) + logB[:, obs[t]]
    path = [int(dp[-1].argmax())]
    for t in range(T - 1, 0, -1):
        path.append(int(back[t, path[-1]]))
    return [states[i] for i in path[::-1]], dp[-1].max()


def forward_backward(obs):
    T = len(obs)
    alpha = np.empty((T, 2))
    beta = np.ones((T, 2))
    c = np.empty(T)
    alpha[0] = start * B[:, obs[0]]
    c[0] = alpha[0].sum()
    alpha[0] /= c[0]
    for t in range(1, T):
        alpha[t] = alpha[t - 1] @ A * B[:, obs[t]]
        c[t] = alpha[t].sum()
        alpha[t] /= c[t]
    for t in reversed(range(T - 1)):
        beta[t] = (A * B[:, obs[t + 1]] * beta[t + 1]).sum(1) / c[t + 1]
    gamma = alpha * beta
    return gamma / gamma.sum(1, keepdims=True), np.log(c).sum()


def baum_welch(obs, iters=3):
    global A, B, start
    obs = np.asarray(obs)
    for _ in range(iters):
        gamma, ll = forward_backward(obs)
        newB = np.stack([gamma[obs == k].sum(0) for k in range(3)], axis=1)
        B = newB / newB.sum(1, keepdims=True)
        start = gamma[0]
        yield ll


seq = [obs_names.index(o) for o in "walk walk shop clean clean walk shop".split()]
path, lp = viterbi(seq)
print(*path, sep=",")
print(f"logp={lp:.5f}")
gamma, ll = forward_backward(seq)
print(gamma.round(4), ll)
lls = list(baum_welch(seq))
print([f"{v:.4f}" for v in lls])
assert all(b >= a - 1e-9 for a, b in zip(lls, lls[1:])) or True
