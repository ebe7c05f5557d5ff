import numpy as np

def forward(x: "float64[4]"):
    state = {"w": x, "t": 0}
    for i in range(600):
        grads = {"w": np.tanh(state["w"]) * 0.01, "n": i}
        state = {"w": state["w"] - grads["w"], "t": state["t"] + 1}
    return state["w"], state["t"], grads["w"], grads["n"]
