import numpy as np

f = np.logspace(1, 5, 5)
w = 2 * np.pi * f
R, L, C = 50.0, 1e-3, 1e-6
Z = R + 1j * w * L + 1 / (1j * w * C)
print(np.abs(Z).round(3))
print(np.angle(Z, deg=True).round(2))
f0 = 1 / (2 * np.pi * np.sqrt(L * C))
print(f"resonance {f0:.1f} Hz")
