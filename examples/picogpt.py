"""GPT-2 in the style of "GPT in 60 lines of NumPy" (picoGPT), its `generate` included: twenty tokens after a prompt.

The weights are drawn, so it has learned nothing but a text by heart: each position's embedding is near one token's, which makes
every choice clear, on a device's integers too.
"""

import numpy as np


def gelu(x):
    return 0.5 * x * (1 + np.tanh(np.sqrt(2 / np.pi) * (x + 0.044715 * x**3)))


def softmax(x):
    exp_x = np.exp(x - np.max(x, axis=-1, keepdims=True))
    return exp_x / np.sum(exp_x, axis=-1, keepdims=True)


def layer_norm(x, g, b, eps: float = 1e-5):
    mean = np.mean(x, axis=-1, keepdims=True)
    variance = np.var(x, axis=-1, keepdims=True)
    return g * (x - mean) / np.sqrt(variance + eps) + b


def linear(x, w, b):
    return x @ w + b


def ffn(x, c_fc, c_proj):
    return linear(gelu(linear(x, **c_fc)), **c_proj)


def attention(q, k, v, mask):
    return softmax(q @ k.T / np.sqrt(q.shape[-1]) + mask) @ v


def mha(x, c_attn, c_proj, n_head):
    x = linear(x, **c_attn)
    qkv = np.split(x, 3, axis=-1)
    qkv_heads = list(map(lambda x: np.split(x, n_head, axis=-1), qkv))  # noqa: C417 (as picoGPT has it)
    causal_mask = (1 - np.tri(x.shape[0], dtype=x.dtype)) * -1e10
    out_heads = [attention(q, k, v, causal_mask) for q, k, v in zip(*qkv_heads)]
    x = linear(np.hstack(out_heads), **c_proj)
    return x


def transformer_block(x, mlp, attn, ln_1, ln_2, n_head):
    x = x + mha(layer_norm(x, **ln_1), **attn, n_head=n_head)
    x = x + ffn(layer_norm(x, **ln_2), **mlp)
    return x


def gpt2(inputs, wte, wpe, blocks, ln_f, n_head):
    x = wte[inputs] + wpe[range(len(inputs))]
    for block in blocks:
        x = transformer_block(x, **block, n_head=n_head)
    x = layer_norm(x, **ln_f)
    return x @ wte.T


def generate(inputs, params, n_head, n_tokens_to_generate):
    from tqdm import tqdm

    for _ in tqdm(range(n_tokens_to_generate), "generating"):
        logits = gpt2(inputs, **params, n_head=n_head)
        next_id = np.argmax(logits[-1])
        inputs.append(int(next_id))

    return inputs[len(inputs) - n_tokens_to_generate :]


def make_params(vocab, ctx, d, n_layer, seed=0):
    rng = np.random.default_rng(seed)

    def w(*shape, scale=0.1):
        return (rng.standard_normal(shape) * scale).astype(np.float32)

    def ln():
        return {"g": np.ones(d, dtype=np.float32), "b": np.zeros(d, dtype=np.float32)}

    blocks = [
        {
            "mlp": {"c_fc": {"w": w(d, 4 * d), "b": w(4 * d)}, "c_proj": {"w": w(4 * d, d), "b": w(d)}},
            "attn": {"c_attn": {"w": w(d, 3 * d), "b": w(3 * d)}, "c_proj": {"w": w(d, d), "b": w(d)}},
            "ln_1": ln(),
            "ln_2": ln(),
        }
        for _ in range(n_layer)
    ]
    wte = w(vocab, d, scale=1.0)
    recited = rng.integers(vocab, size=ctx)  # what the model has learned by heart: a token for each position
    return {"wte": wte, "wpe": 2 * wte[recited] + w(ctx, d), "blocks": blocks, "ln_f": ln()}


def main(prompt: "int64[4]"):
    """Twenty tokens after the prompt's."""
    params = make_params(vocab=256, ctx=64, d=128, n_layer=2)
    return np.array(generate([int(token) % 256 for token in prompt], params, n_head=2, n_tokens_to_generate=20))


if __name__ == "__main__":
    print(main(np.array([3, 17, 200, 45])))
