import cmath
import numpy as np


def impedance(R, L, C, f):
    w = 2 * np.pi * f
    return R + 1j * w * L + 1 / (1j * w * C)


R, L, C = 50.0, 10e-3, 1e-6
freqs = np.logspace(2, 4, 9)
Z = impedance(R, L, C, freqs)
for f, z in zip(freqs, Z):
    print(f"{f:10.1f} Hz  |Z|={abs(z):9.3f}  phase={np.degrees(np.angle(z)):+7.2f}")

f0 = 1 / (2 * np.pi * np.sqrt(L * C))
print("resonance: %.2f Hz" % f0)
print("Q factor: %.3f" % (np.sqrt(L / C) / R))
current = 10 / Z
print("max current at", freqs[np.abs(current).argmax()])
print("real power:", np.round((np.abs(current) ** 2 * Z.real) / 2, 4))
z = complex(3, 4)
print(abs(z), z.conjugate(), cmath.phase(z))
