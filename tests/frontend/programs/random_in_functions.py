import numpy as np

def layer(n, m):
    return {"w": np.random.randn(n, m), "b": np.random.randn(m)}

np.random.seed(0)
layers = [layer(3, 4), layer(4, 2)]
unused = np.random.randn(5)
last = np.random.randn(2)
x = np.ones(3)
for p in layers:
    x = np.tanh(x @ p["w"] + p["b"])
print(x + last)
