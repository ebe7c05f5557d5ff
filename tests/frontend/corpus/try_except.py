import numpy as np
def safe_div(a, b):
    try:
        return a / b
    except ZeroDivisionError:
        return float("nan")
print(safe_div(1, 0), safe_div(4, 2))
with np.errstate(divide="ignore"):
    print(np.array([1.0, 0.0]) / 0)
