#! F511 an iterator from outside moves on
import numpy as np

def forward(x: "float64[4]"):
    it = iter([1.0, 2.0, 3.0])
    if x.sum() > 0:
        a = next(it)
    else:
        a = 0.0
    return x * a
