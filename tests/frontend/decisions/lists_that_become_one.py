import numpy as np

def forward(x: "float64[4]"):
    a = [x[0], x[1]]
    d = {"u": x[2]}
    for i in range(700):
        new = [a[1] * 0.5 + x[2], a[0] + x[3]]
        e = {"u": d["u"] * 0.5 + new[0]}
        a = new
        d = e
    new[0] = new[0] + 1
    e["u"] = e["u"] + 1
    return a[0], a[1], d["u"]
