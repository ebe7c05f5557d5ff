import numpy as np

def forward(x: "float64[20]"):
    a = x.copy()
    n = len(a)
    for i in range(n):
        swapped = False
        for j in range(0, n - i - 1):
            if a[j] > a[j + 1]:
                a[j], a[j + 1] = a[j + 1].copy(), a[j].copy()
                swapped = True
        if not swapped:
            break
    return a
