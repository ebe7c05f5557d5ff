import numpy as np

def forward(x: "int64[1]"):
    n = int(x[0])
    steps = 0
    while n != 1:
        if n % 2 == 0:
            n = n // 2
        else:
            n = 3 * n + 1
        steps += 1
    return steps
