import numpy as np

def silu(x):
    return x / (1 + np.exp(-x))

def block(x, *, wq, wo, gate, up, down, norm):
    h = x * norm / np.sqrt((x**2).mean(-1, keepdims=True) + 1e-6)
    x = x + h @ wq @ wo
    return x + (silu(x @ gate) * (x @ up)) @ down

rng = np.random.default_rng(5)
def draw(*shape):
    return rng.normal(0, 0.3, shape)

blocks = [dict(wq=draw(4, 4), wo=draw(4, 4), gate=draw(4, 6), up=draw(4, 6), down=draw(6, 4), norm=np.ones(4)) for _ in range(2)]
x = rng.standard_normal((3, 4))
for p in blocks:
    x = block(x, **p)
print(x)
