"""One GPT-2 block at full width (768 channels, 12 heads) on which attention matters: a test of attention, not of text.

gamma is 1, the mask -1e10, and the weights are scaled so that scores and activations are of the order of 1: dropping the mask,
uniform attention, a missing 1/sqrt(d) and a mask that is off by one change the result by far more than rounding does.
float64, as NumPy's own numbers are: in float32 the worst case of a 768-term sum, carried through scores and softmax, bounds
nothing any more. `forward` takes embedded tokens, so that a device needs no vocabulary. As a script it prints its result.
"""

import numpy as np

CHANNELS, HEADS, HIDDEN = 768, 12, 3072
rng = np.random.default_rng(2)


def draw(rows, columns, scale=1.0):
    """Weights that keep the variance of what they are applied to, times scale."""
    return rng.normal(0, scale / rows**0.5, (rows, columns))


w_qkv, b_qkv = draw(CHANNELS, 3 * CHANNELS, 1.5), rng.normal(0, 0.02, 3 * CHANNELS)
w_out, b_out = draw(CHANNELS, CHANNELS), rng.normal(0, 0.02, CHANNELS)
w_up, b_up = draw(CHANNELS, HIDDEN), rng.normal(0, 0.02, HIDDEN)
w_down, b_down = draw(HIDDEN, CHANNELS), rng.normal(0, 0.02, CHANNELS)
gamma, beta = np.ones(CHANNELS), np.zeros(CHANNELS)


def gelu(x):
    return 0.5 * x * (1 + np.tanh(0.7978845608028654 * (x + 0.044715 * x**3)))


def softmax(x):
    exp_x = np.exp(x - np.max(x, axis=-1, keepdims=True))
    return exp_x / np.sum(exp_x, axis=-1, keepdims=True)


def layer_norm(x):
    mean = np.mean(x, axis=-1, keepdims=True)
    variance = np.var(x, axis=-1, keepdims=True)
    return gamma * (x - mean) / np.sqrt(variance + 1e-5) + beta


def attention(q, k, v, mask):
    return softmax(q @ k.T / 8.0 + mask) @ v


def multi_head(x):
    q, k, v = np.split(x @ w_qkv + b_qkv, 3, axis=-1)
    heads = [np.split(part, HEADS, axis=-1) for part in (q, k, v)]
    mask = (1 - np.tri(x.shape[0])) * -1e10
    merged = np.hstack([attention(*head, mask) for head in zip(*heads)])
    return merged @ w_out + b_out


def feed_forward(x):
    return gelu(x @ w_up + b_up) @ w_down + b_down


def forward(x: "float64[N, 768]"):
    """Embedded tokens (N, 768) -> the same, one block further."""
    x = x + multi_head(layer_norm(x))
    y = x + feed_forward(layer_norm(x))
    return y


if __name__ == "__main__":
    tokens = np.random.default_rng(3).standard_normal((16, CHANNELS))
    print(forward(tokens))
