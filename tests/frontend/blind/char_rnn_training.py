"""Minimal character RNN trained with backprop through time (after Karpathy)."""
import numpy as np

np.random.seed(0)
data = "hello world, hello numpy. "
chars = sorted(set(data))
vocab = len(chars)
stoi = {c: i for i, c in enumerate(chars)}
itos = {i: c for c, i in stoi.items()}


class RNN:
    def __init__(self, vocab, hidden=16):
        self.params = {
            "Wxh": np.random.randn(hidden, vocab) * 0.1,
            "Whh": np.random.randn(hidden, hidden) * 0.1,
            "Why": np.random.randn(vocab, hidden) * 0.1,
            "bh": np.zeros((hidden, 1)),
            "by": np.zeros((vocab, 1)),
        }
        self.mem = {k: np.zeros_like(v) for k, v in self.params.items()}
        self.hidden = hidden

    def loss(self, inputs, targets, h):
        p = self.params
        xs, hs, ps = {}, {-1: h.copy()}, {}
        loss = 0.0
        for t in range(len(inputs)):
            xs[t] = np.zeros((vocab, 1))
            xs[t][inputs[t]] = 1
            hs[t] = np.tanh(p["Wxh"] @ xs[t] + p["Whh"] @ hs[t - 1] + p["bh"])
            y = p["Why"] @ hs[t] + p["by"]
            e = np.exp(y - y.max())
            ps[t] = e / e.sum()
            loss += -np.log(ps[t][targets[t], 0])
        grads = {k: np.zeros_like(v) for k, v in p.items()}
        dnext = np.zeros_like(h)
        for t in reversed(range(len(inputs))):
            dy = ps[t].copy()
            dy[targets[t]] -= 1
            grads["Why"] += dy @ hs[t].T
            grads["by"] += dy
            dh = p["Why"].T @ dy + dnext
            draw = (1 - hs[t] ** 2) * dh
            grads["bh"] += draw
            grads["Wxh"] += draw @ xs[t].T
            grads["Whh"] += draw @ hs[t - 1].T
            dnext = p["Whh"].T @ draw
        for g in grads.values():
            np.clip(g, -5, 5, out=g)
        return loss, grads, hs[len(inputs) - 1]

    def step(self, grads, lr=0.1):
        for k in self.params:
            self.mem[k] += grads[k] ** 2
            self.params[k] -= lr * grads[k] / np.sqrt(self.mem[k] + 1e-8)

    def sample(self, h, seed, n):
        x = np.zeros((vocab, 1))
        x[seed] = 1
        out = []
        for _ in range(n):
            h = np.tanh(self.params["Wxh"] @ x + self.params["Whh"] @ h + self.params["bh"])
            y = self.params["Why"] @ h + self.params["by"]
            i = int(y.argmax())
            x = np.zeros((vocab, 1))
            x[i] = 1
            out.append(i)
        return "".join(itos[i] for i in out)


rnn = RNN(vocab)
seq, pos, h = 8, 0, np.zeros((16, 1))
smooth = -np.log(1 / vocab) * seq
for it in range(40):
    if pos + seq + 1 >= len(data) or it == 0:
        h, pos = np.zeros((16, 1)), 0
    inp = [stoi[c] for c in data[pos:pos + seq]]
    tgt = [stoi[c] for c in data[pos + 1:pos + seq + 1]]
    loss, grads, h = rnn.loss(inp, tgt, h)
    smooth = smooth * 0.9 + loss * 0.1
    rnn.step(grads)
    pos += seq
    if it % 10 == 0:
        print(f"iter {it:3d} loss {smooth:.4f}")
print(repr(rnn.sample(np.zeros((16, 1)), stoi["h"], 12)))
