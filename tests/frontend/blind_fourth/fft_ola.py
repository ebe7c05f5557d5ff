import numpy as np
from numpy.fft import rfft, irfft, fftshift


def overlap_add(x, h, block=32):
    L = block
    N = 1 << int(np.ceil(np.log2(L + len(h) - 1)))
    H = rfft(h, N)
    y = np.zeros(len(x) + len(h) - 1)
    for start in range(0, len(x), L):
        seg = x[start:start + L]
        yseg = irfft(rfft(seg, N) * H, N)
        end = min(start + N, len(y))
        y[start:end] += yseg[:end - start]
    return y


def stft(x, win, hop):
    n = len(win)
    frames = np.lib.stride_tricks.as_strided(x, shape=((len(x) - n) // hop + 1, n), strides=(x.strides[0] * hop, x.strides[0]))
    return np.fft.rfft(frames * win, axis=-1)


def mel_filterbank(n_mels, n_fft, sr):
    mel = lambda f: 2595 * np.log10(1 + f / 700)
    imel = lambda m: 700 * (10 ** (m / 2595) - 1)
    pts = imel(np.linspace(mel(0), mel(sr / 2), n_mels + 2))
    bins = np.floor((n_fft + 1) * pts / sr).astype(int)
    fb = np.zeros((n_mels, n_fft // 2 + 1))
    for m, (l, c, r) in enumerate(zip(bins, bins[1:], bins[2:])):
        if c > l:
            fb[m, l:c] = (np.arange(l, c) - l) / (c - l)
        if r > c:
            fb[m, c:r] = (r - np.arange(c, r)) / (r - c)
    return fb


rng = np.random.default_rng(0)
x = rng.standard_normal(200)
h = np.sinc(np.arange(-8, 9) / 4) * np.blackman(17)
ola = overlap_add(x, h)
assert np.allclose(ola, np.convolve(x, h))
S = stft(x, np.hamming(64), 16)
power = S.real**2 + S.imag**2
mels = np.log(np.maximum(power @ mel_filterbank(10, 64, 16000).T, 1e-10))
print(mels.shape, mels.mean(axis=0).round(3))
ac = np.correlate(x, x, mode="full")[len(x) - 1:]
print((ac[:4] / ac[0]).round(4))
print(np.abs(fftshift(np.fft.fft(h, 32))).argmax(), np.angle(S[0, 3]).round(4))
phase = np.unwrap(np.angle(S[0]))
print(phase[-1].round(3))

