#! F504 another array may share
import numpy as np

def f(a):
    n = 0
    while n < 3 and a.max() < 1000:
        a[0] = a[0] + 1
        a = a * 2
        n += 1
    return a
def forward(x: "float64[4]"):
    y = x.copy()
    z = f(y)
    return y, z
