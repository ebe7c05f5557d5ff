import numpy as np

SR = 8000


def envelope(n, a=0.1, d=0.1, s=0.7, r=0.2):
    na, nd, nr = int(a * n), int(d * n), int(r * n)
    ns = n - na - nd - nr
    return np.concatenate([np.linspace(0, 1, na, endpoint=False), np.linspace(1, s, nd, endpoint=False), np.full(ns, s), np.linspace(s, 0, nr)])


NOTE = {n: i for i, n in enumerate("C C# D D# E F F# G G# A A# B".split())}


def freq(name):
    *n, o = name
    return 440 * 2 ** ((NOTE["".join(n)] - 9) / 12 + int(o) - 4)


def tone(name, dur=0.05, harmonics=(1, 0.5, 0.25)):
    n = int(SR * dur)
    t = np.arange(n) / SR
    f = freq(name)
    w = sum(a * np.sin(2 * np.pi * f * (k + 1) * t) for k, a in enumerate(harmonics))
    return envelope(n) * w / np.abs(w).max()


def yin(x, fmin=80, fmax=1000, thr=0.2):
    tmax = SR // fmin
    d = np.array([np.sum((x[:-tmax] - x[tau:len(x) - tmax + tau]) ** 2) for tau in range(tmax)])
    cmnd = np.ones_like(d)
    cmnd[1:] = d[1:] * np.arange(1, len(d)) / np.maximum(np.cumsum(d[1:]), 1e-12)
    tau = SR // fmax
    while tau < len(cmnd) - 1:
        if cmnd[tau] < thr:
            while tau + 1 < len(cmnd) and cmnd[tau + 1] < cmnd[tau]:
                tau += 1
            break
        tau += 1
    else:
        return 0.0
    a, b, c = cmnd[tau - 1:tau + 2]
    shift = 0.5 * (a - c) / (a - 2 * b + c)
    return SR / (tau + shift)


song = np.concatenate([tone(n) for n in ("A4", "C5", "E4")])
for i, seg in enumerate(np.split(song, 3)):
    print(f"{i}: {yin(seg):7.2f} Hz")
pcm = np.int16(np.clip(song, -1, 1) * 32767)
print(pcm.dtype, pcm.min(), pcm.max(), pcm[::100])
mu = 255
enc = np.sign(song) * np.log1p(mu * np.abs(song)) / np.log1p(mu)
q = ((enc + 1) / 2 * 255 + 0.5).astype(np.uint8)
dec = q / 255 * 2 - 1
dec = np.sign(dec) * np.expm1(np.abs(dec) * np.log1p(mu)) / mu
print(f"mu-law error {np.sqrt(np.mean((dec - song) ** 2)):.5f}")
w = np.kaiser(33, 6.0)
h = np.sinc(0.5 * (np.arange(33) - 16)) * w
h /= h.sum()
y = np.convolve(song, h, "same")[::2]
zc = np.count_nonzero(np.diff(np.signbit(y).astype(int)))
print(zc, y.shape)
noise = np.random.default_rng(0).uniform(-1, 1, 64)
lfilter_state = 0.0
ks = []
buf = list(noise)
for _ in range(128):
    v = buf.pop(0)
    nv = 0.996 * 0.5 * (v + buf[0])
    buf.append(nv)
    ks.append(v)
print(np.array(ks).std().round(5))
