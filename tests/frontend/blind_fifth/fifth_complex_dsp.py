import numpy as np
import cmath
import math

z = np.array([1 + 2j, -3.5j, 2, complex(0, -0.0)])
print(z, z.real, z.imag, z.conj(), abs(z), np.angle(z, deg=True).round(3))
print(z.dtype, z.astype(np.complex64).dtype, np.iscomplexobj(z), np.iscomplex(z), np.isreal(z))
z[1] *= 1j
z.imag[0] = 9
z.real += 1
print(z, z.sum(), z.prod(), np.vdot(z, z), np.dot(z, z))


def czt(x, m, w, a):
    n = len(x)
    k = np.arange(m)
    out = np.zeros(m, complex)
    for i in range(n):
        out += x[i] * a ** -i * w ** (i * k)
    return out


x = np.cos(2 * np.pi * 0.15 * np.arange(32)) + 0.1
X = czt(x, 8, np.exp(-2j * np.pi * 0.01), np.exp(2j * np.pi * 0.11))
print(np.abs(X).argmax(), np.abs(X).max().round(4))


def fft(x):
    n = len(x)
    if n == 1:
        return x
    even, odd = fft(x[::2]), fft(x[1::2])
    tw = np.exp(-2j * np.pi * np.arange(n // 2) / n) * odd
    return np.concatenate([even + tw, even - tw])


s = np.random.default_rng(0).standard_normal(16)
print(np.allclose(fft(s), np.fft.fft(s)), np.allclose(np.fft.ifft(np.fft.fft(s)).real, s))
print(np.fft.fftshift(np.fft.fftfreq(6, 0.5)), np.fft.rfftfreq(6))
print(np.roots([1, 0, 1]), np.poly([1j, -1j]).real, np.polyval([1, 2, 3], 1 + 1j))
print(cmath.sqrt(-4), cmath.phase(1j), (1 + 2j) ** 2, abs(3 + 4j), complex("1+2j"), cmath.polar(1j)[0])
w, h = 21, 9
c = np.linspace(-2, 1, w) + 1j * np.linspace(-1.2, 1.2, h)[:, None]
zz = np.zeros_like(c)
count = np.zeros(c.shape, int)
for _ in range(30):
    alive = np.abs(zz) <= 2
    zz[alive] = zz[alive] ** 2 + c[alive]
    count += alive
for row in count:
    print("".join("@" if v == 30 else " .:-=+*#%"[v % 9] for v in row))
print(f"{z[0]:.2f}", f"{complex(z[2]):.1f}", repr(z[1]), np.sqrt(-1 + 0j), np.emath.sqrt(-1), np.exp(1j * math.pi).round(10))
