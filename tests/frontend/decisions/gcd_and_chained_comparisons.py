import numpy as np

def forward(x: "int64[5]"):
    a, b = int(x[0]), int(x[1])
    while b:
        a, b = b, a % b
    ok = a > 3 and not (b > 0 or a == 7)
    big = 0 < a < 100
    return a, ok, big, 1 if a > 2 else 0
