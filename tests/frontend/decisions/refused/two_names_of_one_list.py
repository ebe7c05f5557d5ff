#! F604 a loop is unrolled because F511 `a` is, behind a round of the loop, a list or dict that another place holds too
import numpy as np

def forward(x: "float64[4]"):
    a = [x[0]]
    b = a
    s = x[0] * 0
    for i in range(9000):
        a[0] += x[1]
        s += b[0]
        a = [a[0]]
        b = a
    return s, a[0], b[0]
