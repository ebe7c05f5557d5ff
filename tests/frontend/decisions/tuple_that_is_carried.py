import numpy as np

def forward(x: "float64[5]", h: "float64[3]"):
    state = (h, 0)
    while state[1] < 10 and state[0].sum() < 1e6:
        a, k = state
        state = (a * 2 + 1, k + 1)
    return state[0], state[1]
