#! F511 changes its length in a loop
import numpy as np

def forward(x: "float64[4]"):
    hist = []
    while x.max() > 0.1:
        x = x * 0.5
        hist.append(x.sum())
    return x
