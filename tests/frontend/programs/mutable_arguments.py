import numpy as np
def fill(a, v):
    a[0] = v
    a += 1
def grow(items):
    items.append(len(items))
x = np.zeros(2)
fill(x, 5)
items = []
grow(items)
grow(items)
print(x, items)
