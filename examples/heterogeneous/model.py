"""A transformer block in three places: attention on the accelerator, norms on a RISC-V core, the rest on the host.

fleet compile --emit placed examples/heterogeneous/model.py:forward --batch 8
fleet cosim examples/heterogeneous/model.py:forward --batch 8 --engines vm,mixed
"""

import numpy as np

import fleet


def norm(x, gamma):
    return x / np.sqrt(np.mean(x * x, axis=-1, keepdims=True) + 1e-5) * gamma


def attention(x, wq, wk, wv, wo):
    q, k, v = x @ wq, x @ wk, x @ wv
    heads = []
    for h in range(2):
        part = slice(64 * h, 64 * h + 64)
        scores = q[:, part] @ k[:, part].T / 8
        scores = np.exp(scores - np.max(scores, axis=-1, keepdims=True))
        heads.append(scores / np.sum(scores, axis=-1, keepdims=True) @ v[:, part])
    return np.concatenate(heads, axis=-1) @ wo


def forward(
    x: "float32[T, 128]",
    g1: "float32[128]",
    wq: "float32[128, 128]",
    wk: "float32[128, 128]",
    wv: "float32[128, 128]",
    wo: "float32[128, 128]",
    g2: "float32[128]",
    w1: "float32[128, 256]",
    w2: "float32[256, 128]",
):
    with fleet.device("riscv"):
        y = norm(x, g1)
    with fleet.device("hbm_small"):
        y = attention(y, wq, wk, wv, wo)
    x = x + y
    with fleet.device("riscv"):
        y = norm(x, g2)
    return x + np.maximum(y @ w1, 0) @ w2
