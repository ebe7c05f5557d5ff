"""GPT-2 (124 M parameters) on sixteen tokens with drawn weights, after "GPT in 60 lines of NumPy": prints the logits.

Every weight comes from one seeded generator, in float64, so that anybody's NumPy gives the same logits. It says little
about attention (gamma and the mask are tiny): gpt2_attention.py is the model for that.
"""

import numpy as np

VOCABULARY, POSITIONS, CHANNELS, HEADS, BLOCKS = 50257, 1024, 768, 12, 12
TOKENS = [8897, 33125, 34028, 11310, 46496, 8936, 13422, 12673, 12521, 4655, 27264, 42624, 48419, 27095, 24398, 15221]


def gelu(x):
    return 0.5 * x * (1 + np.tanh(np.sqrt(2 / np.pi) * (x + 0.044715 * x**3)))


def softmax(x):
    exp_x = np.exp(x - np.max(x, axis=-1, keepdims=True))
    return exp_x / np.sum(exp_x, axis=-1, keepdims=True)


def layer_norm(x, gamma, beta, eps=1e-5):
    mean = np.mean(x, axis=-1, keepdims=True)
    variance = np.var(x, axis=-1, keepdims=True)
    return gamma * (x - mean) / np.sqrt(variance + eps) + beta


def linear(x, weight, bias):
    return x @ weight + bias


def attention(q, k, v, mask):
    return softmax(q @ k.T / np.sqrt(q.shape[-1]) + mask) @ v


def multi_head(x, attn, attn_bias, out, out_bias):
    qkv = np.split(linear(x, attn, attn_bias), 3, axis=-1)
    heads = [np.split(part, HEADS, axis=-1) for part in qkv]
    mask = (1 - np.tri(x.shape[0])) * -1e-10
    return linear(np.hstack([attention(q, k, v, mask) for q, k, v in zip(*heads)]), out, out_bias)


def feed_forward(x, up, up_bias, down, down_bias):
    return linear(gelu(linear(x, up, up_bias)), down, down_bias)


def block(x, mha, ffn):
    x = x + multi_head(layer_norm(x, 1e-5, 1e-5), **mha)
    return x + feed_forward(layer_norm(x, 1e-5, 1e-5), **ffn)


def gpt2(tokens, wte, wpe, blocks):
    x = wte[tokens] + wpe[range(len(tokens))]
    for parameters in blocks:
        x = block(x, **parameters)
    return layer_norm(x, 1e-5, 1e-5) @ wte.T


def draw_block():
    """One block's weights, in the order in which they are drawn."""
    mha = {
        "attn": np.random.randn(CHANNELS, 3 * CHANNELS),
        "attn_bias": np.random.randn(3 * CHANNELS),
        "out": np.random.randn(CHANNELS, CHANNELS),
        "out_bias": np.random.randn(CHANNELS),
    }
    ffn = {
        "up": np.random.randn(CHANNELS, 4 * CHANNELS),
        "up_bias": np.random.randn(4 * CHANNELS),
        "down": np.random.randn(4 * CHANNELS, CHANNELS),
        "down_bias": np.random.randn(CHANNELS),
    }
    return {"mha": mha, "ffn": ffn}


np.random.seed(42)
wte = np.random.randn(VOCABULARY, CHANNELS)
wpe = np.random.randn(POSITIONS, CHANNELS)
blocks = [draw_block() for _ in range(BLOCKS)]
logits = gpt2(TOKENS, wte, wpe, blocks)
print(logits)
