# compress(img: float64[16, 16])
import numpy as np

S2 = np.sqrt(2.0)


def haar1d(x, axis):
    x = np.moveaxis(x, axis, -1)
    lo = (x[..., ::2] + x[..., 1::2]) / S2
    hi = (x[..., ::2] - x[..., 1::2]) / S2
    return np.moveaxis(np.concatenate([lo, hi], axis=-1), -1, axis)


def ihaar1d(x, axis):
    x = np.moveaxis(x, axis, -1)
    n = x.shape[-1] // 2
    lo, hi = x[..., :n], x[..., n:]
    out = np.stack([(lo + hi) / S2, (lo - hi) / S2], axis=-1).reshape(*x.shape[:-1], 2 * n)
    return np.moveaxis(out, -1, axis)


def haar2d(img, levels):
    out = img.copy()
    n = img.shape[0]
    for _ in range(levels):
        out[:n, :n] = haar1d(haar1d(out[:n, :n], 0), 1)
        n //= 2
    return out


def ihaar2d(c, levels):
    out = c.copy()
    n = c.shape[0] >> (levels - 1)
    while n <= c.shape[0]:
        out[:n, :n] = ihaar1d(ihaar1d(out[:n, :n], 1), 0)
        n *= 2
    return out


def compress(img, keep=0.25, levels=3):
    c = haar2d(img, levels)
    flat = np.sort(np.abs(c), axis=None)[::-1]
    thr = flat[int(keep * c.size) - 1]
    q = np.where(np.abs(c) >= thr, c, 0.0)
    rec = ihaar2d(q, levels)
    mse = np.mean((img - rec) ** 2)
    psnr = 10 * np.log10(np.ptp(img) ** 2 / mse)
    zz = np.argpartition(np.abs(c).ravel(), -5)[-5:]
    return rec, np.count_nonzero(q), psnr, np.sort(zz)
