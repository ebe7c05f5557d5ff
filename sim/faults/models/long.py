"""1,100 inputs: at 2 kept of 8, more than the four beats of codes whose places fill three beats."""

# ruff: noqa: F821, RET504 - annotations name dtypes and dimensions, values name operations


def forward(x: "float32[N, 1100]", w: "float32[1100, 20]"):
    y = x @ w
    return y
