import numpy as np


def layer_norm(x, gamma, beta, eps=1e-5):
    mu = x.mean(-1, keepdims=True)
    var = x.var(-1, keepdims=True)
    return (x - mu) / np.sqrt(var + eps) * gamma + beta


def gelu(x):
    return 0.5 * x * (1 + np.tanh(np.sqrt(2 / np.pi) * (x + 0.044715 * x**3)))


def softmax(x, axis=-1):
    e = np.exp(x - np.max(x, axis=axis, keepdims=True))
    return e / np.sum(e, axis=axis, keepdims=True)


def rope(x, base=10000.0):
    *_, t, d = x.shape
    inv = 1.0 / base ** (np.arange(0, d, 2) / d)
    ang = np.outer(np.arange(t), inv)
    cos, sin = np.cos(ang), np.sin(ang)
    x1, x2 = x[..., ::2], x[..., 1::2]
    out = np.empty_like(x)
    out[..., ::2] = x1 * cos - x2 * sin
    out[..., 1::2] = x1 * sin + x2 * cos
    return out


def mha(x, p, n_heads, mask=None):
    b, t, d = x.shape
    q, k, v = (np.reshape(x @ p[f"w{c}"], (b, t, n_heads, d // n_heads)).transpose(0, 2, 1, 3) for c in "qkv")
    q, k = map(rope, (q, k))
    scores = np.einsum("bhqd,bhkd->bhqk", q, k) / np.sqrt(d // n_heads)
    if mask is not None:
        scores = np.where(mask, scores, -1e9)
    y = softmax(scores) @ v
    return y.transpose(0, 2, 1, 3).reshape(b, t, d) @ p["wo"]


def block(x, p, n_heads, mask):
    x = x + mha(layer_norm(x, **p["ln1"]), p["attn"], n_heads, mask)
    return x + gelu(layer_norm(x, **p["ln2"]) @ p["w1"]) @ p["w2"]


rng = np.random.default_rng(3)
D, Hh = 32, 4


def init():
    r = lambda *s: rng.normal(0, 0.05, s)
    return {
        "ln1": {"gamma": np.ones(D), "beta": np.zeros(D)},
        "ln2": dict(gamma=np.ones(D), beta=np.zeros(D)),
        "attn": {k: r(D, D) for k in ("wq", "wk", "wv", "wo")},
        "w1": r(D, 4 * D),
        "w2": r(4 * D, D),
    }


layers = [init() for _ in range(2)]
wte = rng.normal(0, 0.5, (50, D))


def forward(tokens: "int64[B, 10]"):
    t = tokens.shape[1]
    mask = np.tril(np.ones((t, t), dtype=bool))
    x = wte[tokens % 50]
    for p in layers:
        x = block(x, p, Hh, mask)
    return x @ wte.T


if __name__ == "__main__":
    toks = rng.integers(0, 50, (2, 10))
    logits = forward(toks)
    print(logits.shape, logits.argmax(-1))
