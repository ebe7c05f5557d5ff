import numpy as np

def forward(x: "float64[8]"):
    found = {"mean": x.mean()}
    found["large"] = x[0] if x[0] > 0 else x[1]
    return found
