import numpy as np

states = ("Healthy", "Fever")
observations = ("normal", "cold", "dizzy")
start_p = np.array([0.6, 0.4])
trans_p = np.array([[0.7, 0.3], [0.4, 0.6]])
emit_p = np.array([[0.5, 0.4, 0.1], [0.1, 0.3, 0.6]])


def viterbi(obs):
    T = len(obs)
    N = len(states)
    delta = np.zeros((T, N))
    psi = np.zeros((T, N), dtype=int)
    delta[0] = start_p * emit_p[:, obs[0]]
    for t in range(1, T):
        for j in range(N):
            p = delta[t - 1] * trans_p[:, j]
            psi[t, j] = np.argmax(p)
            delta[t, j] = np.max(p) * emit_p[j, obs[t]]
    path = [int(np.argmax(delta[-1]))]
    for t in range(T - 1, 0, -1):
        path.insert(0, int(psi[t, path[0]]))
    return path, delta[-1].max()


def forward(obs):
    a = start_p * emit_p[:, obs[0]]
    for o in obs[1:]:
        a = (a @ trans_p) * emit_p[:, o]
    return a.sum()


obs_names = ["normal", "cold", "dizzy", "dizzy", "normal"]
obs = [observations.index(o) for o in obs_names]
path, prob = viterbi(obs)
print(" -> ".join(states[i] for i in path), f"p={prob:.6g}")
print("log-likelihood: %.5f" % np.log(forward(obs)))
