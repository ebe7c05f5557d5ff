import numpy as np


def next_pow2(n):
    return 1 << (n - 1).bit_length()


def fft_convolve(a, b):
    n = len(a) + len(b) - 1
    size = next_pow2(n)
    return np.fft.irfft(np.fft.rfft(a, size) * np.fft.rfft(b, size), size)[:n]


def overlap_add(x, h, block=32):
    y = np.zeros(len(x) + len(h) - 1)
    for start in range(0, len(x), block):
        seg = x[start:start + block]
        part = fft_convolve(seg, h)
        y[start:start + len(part)] += part
    return y


def my_fft(x):
    x = np.asarray(x, dtype=complex)
    if len(x) == 1:
        return x
    even, odd = my_fft(x[::2]), my_fft(x[1::2])
    tw = np.exp(-2j * np.pi * np.arange(len(x) // 2) / len(x))
    return np.concatenate([even + tw * odd, even - tw * odd])


t = np.arange(200) / 100
x = np.sin(2 * np.pi * 3 * t) + 0.5 * np.cos(2 * np.pi * 17 * t)
h = np.hamming(15)
h /= h.sum()
direct = np.convolve(x, h)
print("fft == direct:", np.allclose(fft_convolve(x, h), direct))
print("ola == direct:", np.allclose(overlap_add(x, h), direct))
print("my fft:", np.allclose(my_fft(x[:64]), np.fft.fft(x[:64])))
spec = np.abs(np.fft.rfft(x))
freqs = np.fft.rfftfreq(len(x), d=1 / 100)
top = np.argsort(spec)[-2:][::-1]
print("peaks at", freqs[top])
print(np.round(direct[50:60], 4))
