"""Seed 004's matrix-vector product: (N, 4096) x (4096, 256), a linear layer of a language model's size, in plain NumPy."""


def forward(a: "float32[N, 4096]", b: "float32[4096, 256]"):
    """Activations (N, 4096) -> (N, 256)."""
    c = a @ b
    return c
