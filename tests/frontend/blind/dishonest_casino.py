import numpy as np

STATES = ("fair", "loaded")


def viterbi(obs, start, trans, emit):
    T, K = len(obs), len(start)
    logd = np.log(start) + np.log(emit[:, obs[0]])
    back = np.zeros((T, K), dtype=np.intp)
    for t in range(1, T):
        cand = logd[:, None] + np.log(trans)
        back[t] = cand.argmax(axis=0)
        logd = cand.max(axis=0) + np.log(emit[:, obs[t]])
    path = [int(logd.argmax())]
    for t in range(T - 1, 0, -1):
        path.append(int(back[t, path[-1]]))
    path.reverse()
    return path, logd.max()


def forward_backward(obs, start, trans, emit):
    alpha = [start * emit[:, obs[0]]]
    alpha[0] = alpha[0] / alpha[0].sum()
    for o in obs[1:]:
        a = (alpha[-1] @ trans) * emit[:, o]
        alpha.append(a / a.sum())
    beta = np.ones(len(start))
    post = [alpha[-1]]
    for o, a in zip(obs[:0:-1], alpha[-2::-1]):
        beta = trans @ (emit[:, o] * beta)
        beta /= beta.sum()
        g = a * beta
        post.insert(0, g / g.sum())
    return np.array(post)


start = np.array([0.5, 0.5])
trans = np.array([[0.95, 0.05], [0.1, 0.9]])
emit = np.vstack([np.full(6, 1 / 6), [0.1] * 5 + [0.5]])
rng = np.random.default_rng(1)
state, hidden, rolls = 0, [], []
for _ in range(60):
    hidden.append(state)
    rolls.append(int(rng.choice(6, p=emit[state])))
    state = int(rng.choice(2, p=trans[state]))
path, lp = viterbi(rolls, start, trans, emit)
post = forward_backward(rolls, start, trans, emit)
print("rolls  ", "".join(str(r + 1) for r in rolls))
print("hidden ", "".join(STATES[s][0].upper() for s in hidden))
print("viterbi", "".join(STATES[s][0].upper() for s in path))
print(f"log p = {lp:.4f}, agree = {np.mean(np.equal(path, hidden)):.3f}")
print("posterior agree", (post.argmax(1) == np.array(hidden)).mean().round(3))
