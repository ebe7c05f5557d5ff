import numpy as np
def viterbi(obs, pi, A, B):
    T, S = len(obs), len(pi)
    delta = np.zeros((T, S)); psi = np.zeros((T, S), dtype=int)
    delta[0] = pi * B[:, obs[0]]
    for t in range(1, T):
        for s in range(S):
            p = delta[t-1] * A[:, s]
            psi[t, s] = np.argmax(p)
            delta[t, s] = p[psi[t, s]] * B[s, obs[t]]
    path = [int(np.argmax(delta[-1]))]
    for t in range(T - 1, 0, -1):
        path.append(int(psi[t, path[-1]]))
    return path[::-1]
print(viterbi([0, 1, 2, 1], np.array([.6, .4]), np.array([[.7, .3], [.4, .6]]), np.array([[.5, .4, .1], [.1, .3, .6]])))
