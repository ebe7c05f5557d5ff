import numpy as np
def find(values, limit):
    for i, v in enumerate(values):
        if v > limit:
            return i, v
    return None
print(find([1, 5, 3], 2), find([1], 2))
def nothing():
    pass
print(nothing())
