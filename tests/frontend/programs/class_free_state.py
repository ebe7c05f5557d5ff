import numpy as np

def adam(params, grads, state, *, lr=0.1, betas=(0.9, 0.999), eps=1e-8):
    state["t"] += 1
    for name in params:
        m, v = state.setdefault(name, (0.0, 0.0))
        m = betas[0] * m + (1 - betas[0]) * grads[name]
        v = betas[1] * v + (1 - betas[1]) * grads[name] ** 2
        state[name] = m, v
        mh, vh = m / (1 - betas[0] ** state["t"]), v / (1 - betas[1] ** state["t"])
        params[name] = params[name] - lr * mh / (np.sqrt(vh) + eps)

p = {"a": np.ones(2), "b": np.arange(3.0)}
s = {"t": 0}
for _ in range(3):
    adam(p, {k: 2 * v for k, v in p.items()}, s)
print(p, s["t"])
