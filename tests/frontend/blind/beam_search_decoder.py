import numpy as np

rng = np.random.default_rng(17)
V, T, EOS = 6, 7, 0
vocab = ["<eos>", "a", "b", "c", "d", "e"]
W = rng.normal(size=(V, V))


def log_softmax(x, axis=-1):
    m = x.max(axis=axis, keepdims=True)
    return x - m - np.log(np.exp(x - m).sum(axis=axis, keepdims=True))


def next_logp(seq):
    return log_softmax(W[seq[-1]] - 0.3 * len(seq) * (np.arange(V) != EOS))


def beam_search(start, width=3, alpha=0.7):
    beams = [([start], 0.0)]
    done = []
    for _ in range(T):
        cands = []
        for seq, score in beams:
            lp = next_logp(seq)
            for tok in np.argsort(lp)[::-1][:width]:
                cands.append((seq + [int(tok)], score + float(lp[tok])))
        cands.sort(key=lambda c: c[1], reverse=True)
        beams = []
        for seq, score in cands:
            if seq[-1] == EOS:
                done.append((seq, score / len(seq) ** alpha))
            else:
                beams.append((seq, score))
            if len(beams) == width:
                break
        if not beams:
            break
    done.extend((s, sc / len(s) ** alpha) for s, sc in beams)
    return sorted(done, key=lambda c: -c[1])


for rank, (seq, score) in enumerate(beam_search(2)[:4], start=1):
    print(f"{rank}. {' '.join(vocab[i] for i in seq):<28} {score:8.4f}")
greedy = [2]
while greedy[-1] != EOS and len(greedy) < T:
    greedy.append(int(np.argmax(next_logp(greedy))))
print("greedy:", *[vocab[i] for i in greedy])
