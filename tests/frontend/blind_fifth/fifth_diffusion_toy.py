import numpy as np
from types import SimpleNamespace
from typing import Final

T: Final = 20


def cosine_schedule(T, s=0.008):
    t = np.linspace(0, T, T + 1)
    ac = np.cos((t / T + s) / (1 + s) * np.pi / 2) ** 2
    ac /= ac[0]
    betas = np.clip(1 - ac[1:] / ac[:-1], 0, 0.999)
    alphas = 1 - betas
    return SimpleNamespace(betas=betas, alphas=alphas, abar=np.cumprod(alphas))


class Denoiser:
    """Two-layer MLP with a sinusoidal time embedding, trained by Adam."""

    def __init__(self, dim=2, hidden=24, emb=8, rng=None):
        rng = rng or np.random.default_rng()
        self.emb = emb
        self.p = {
            "W1": rng.normal(0, 1 / np.sqrt(dim + emb), (dim + emb, hidden)),
            "b1": np.zeros(hidden),
            "W2": rng.normal(0, 1 / np.sqrt(hidden), (hidden, dim)),
            "b2": np.zeros(dim),
        }
        self.m = {k: np.zeros_like(v) for k, v in self.p.items()}
        self.v = {k: np.zeros_like(v) for k, v in self.p.items()}
        self.t = 0

    def embed(self, t):
        f = np.exp(-np.log(100.0) * np.arange(self.emb // 2) / (self.emb // 2))
        a = t[:, None] * f
        return np.concatenate([np.sin(a), np.cos(a)], 1)

    def __call__(self, x, t):
        self.x = np.hstack((x, self.embed(t)))
        self.z = self.x @ self.p["W1"] + self.p["b1"]
        self.h = self.z * (self.z > 0) + 0.01 * self.z * (self.z <= 0)
        return self.h @ self.p["W2"] + self.p["b2"]

    def backward(self, d):
        g = {"W2": self.h.T @ d, "b2": d.sum(0)}
        dz = d @ self.p["W2"].T * np.where(self.z > 0, 1, 0.01)
        g |= {"W1": self.x.T @ dz, "b1": dz.sum(0)}
        return g

    def adam(self, g, lr=1e-2, b1=0.9, b2=0.999, eps=1e-8):
        self.t += 1
        for k in self.p:
            self.m[k] = b1 * self.m[k] + (1 - b1) * g[k]
            self.v[k] = b2 * self.v[k] + (1 - b2) * g[k] ** 2
            mh, vh = self.m[k] / (1 - b1**self.t), self.v[k] / (1 - b2**self.t)
            self.p[k] -= lr * mh / (np.sqrt(vh) + eps)


def run(seed=0, steps=80, batch=32):
    rng = np.random.default_rng(seed)
    sch = cosine_schedule(T)
    net = Denoiser(rng=rng)
    losses = []
    for i in range(steps):
        th = rng.uniform(0, 2 * np.pi, batch)
        x0 = np.stack([np.cos(th), np.sin(th)], -1)
        t = rng.integers(0, T, batch)
        eps = rng.standard_normal(x0.shape)
        ab = sch.abar[t][:, None]
        xt = np.sqrt(ab) * x0 + np.sqrt(1 - ab) * eps
        pred = net(xt, t.astype(float))
        diff = pred - eps
        losses.append((diff**2).mean())
        net.adam(net.backward(2 * diff / diff.size))
    x = rng.standard_normal((8, 2))
    for t in reversed(range(T)):
        e = net(x, np.full(len(x), float(t)))
        mean = (x - sch.betas[t] / np.sqrt(1 - sch.abar[t]) * e) / np.sqrt(sch.alphas[t])
        x = mean + (np.sqrt(sch.betas[t]) * rng.standard_normal(x.shape) if t > 0 else 0)
    return losses, x


losses, x = run()
print(f"{np.mean(losses[:10]):.3f} -> {np.mean(losses[-10:]):.3f}")
print(x.round(2), np.linalg.norm(x, axis=1).round(2), sep="\n")
