import numpy as np
x = np.sin(np.linspace(0, 6, 30))
w = 5
ma = np.convolve(x, np.ones(w) / w, mode="valid")
ema = np.empty_like(x); ema[0] = x[0]
for i in range(1, len(x)): ema[i] = 0.3 * x[i] + 0.7 * ema[i-1]
print(ma[:4], ema[-3:])
