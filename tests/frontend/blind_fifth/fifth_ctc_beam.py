import numpy as np
from collections import defaultdict
from functools import reduce

NEG_INF = -float("inf")


def logsumexp(*args):
    if all(a == NEG_INF for a in args):
        return NEG_INF
    a_max = max(args)
    lsp = np.log(sum(np.exp(a - a_max) for a in args))
    return a_max + lsp


def ctc_beam(probs, beam_size=4, blank=0):
    T, S = probs.shape
    probs = np.log(probs)
    beam = [(tuple(), (0.0, NEG_INF))]
    for t in range(T):
        next_beam = defaultdict(lambda: (NEG_INF, NEG_INF))
        for s in range(S):
            p = probs[t, s]
            for prefix, (p_b, p_nb) in beam:
                if s == blank:
                    n_p_b, n_p_nb = next_beam[prefix]
                    n_p_b = logsumexp(n_p_b, p_b + p, p_nb + p)
                    next_beam[prefix] = (n_p_b, n_p_nb)
                    continue
                end_t = prefix[-1] if prefix else None
                n_prefix = prefix + (s,)
                n_p_b, n_p_nb = next_beam[n_prefix]
                if s != end_t:
                    n_p_nb = logsumexp(n_p_nb, p_b + p, p_nb + p)
                else:
                    n_p_nb = logsumexp(n_p_nb, p_b + p)
                next_beam[n_prefix] = (n_p_b, n_p_nb)
                if s == end_t:
                    n_p_b, n_p_nb = next_beam[prefix]
                    n_p_nb = logsumexp(n_p_nb, p_nb + p)
                    next_beam[prefix] = (n_p_b, n_p_nb)
        beam = sorted(next_beam.items(), key=lambda x: logsumexp(*x[1]), reverse=True)
        beam = beam[:beam_size]
    best = beam[0]
    return best[0], -logsumexp(*best[1])


def ctc_loss(probs, labels, blank=0):
    ext = [blank]
    for l in labels:
        ext += [l, blank]
    T, L = len(probs), len(ext)
    alpha = np.zeros((T, L))
    alpha[0, :2] = probs[0, ext[0]], probs[0, ext[1]]
    for t in range(1, T):
        for s in range(L):
            a = alpha[t - 1, s] + (alpha[t - 1, s - 1] if s else 0)
            if s >= 2 and ext[s] != blank and ext[s] != ext[s - 2]:
                a += alpha[t - 1, s - 2]
            alpha[t, s] = a * probs[t, ext[s]]
    return -np.log(alpha[-1, -1] + alpha[-1, -2])


np.random.seed(3)
T, S = 8, 4
probs = np.random.rand(T, S)
probs = probs / probs.sum(axis=1, keepdims=True)
labels, score = ctc_beam(probs)
print(labels, f"{score:.3f}", f"{ctc_loss(probs, labels):.3f}")
greedy = reduce(lambda acc, s: acc if acc and acc[-1] == s else acc + [s], probs.argmax(1).tolist(), [])
print(greedy, [s for s in greedy if s != 0])
