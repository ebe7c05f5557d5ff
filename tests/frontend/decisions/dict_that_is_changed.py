import numpy as np

def forward(x: "float64[5]"):
    d = {"a": x, "n": 0}
    while d["n"] < 4:
        if d["a"][0] > 0:
            d["a"] = d["a"] + 1
        d["n"] += 1
    return d["a"]
