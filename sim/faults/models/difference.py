"""A square product and a difference: both lose their meaning when operands are swapped, and neither its shape."""

# ruff: noqa: F821 - annotations name dtypes and dimensions, values name operations


def forward(x: "float32[N, 16]", w: "float32[16, 16]", b: "float32[16]"):
    h = x @ w
    y = h - b
    return h, y
