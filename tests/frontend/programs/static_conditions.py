import numpy as np
CONFIG = {"act": "gelu", "layers": 2, "norm": None, "scale": 0.5}

def act(x, kind):
    if kind == "relu":
        return np.maximum(x, 0)
    if kind == "gelu":
        return 0.5 * x * (1 + np.tanh(np.sqrt(2 / np.pi) * (x + 0.044715 * x**3)))
    raise ValueError(f"no {kind}")

x = np.linspace(-1, 1, 4)
for i in range(CONFIG["layers"]):
    x = act(x, CONFIG["act"])
    if CONFIG["norm"] is not None:
        x = x / 0
    if CONFIG.get("scale"):
        x = x * CONFIG["scale"]
print(x)
