"""Post-training int8 quantisation of a small MLP, written as one would for an accelerator."""
import numpy as np


def quant_params(x, bits=8, symmetric=True, axis=None):
    if symmetric:
        amax = np.abs(x).max(axis=axis, keepdims=axis is not None)
        scale = np.where(amax == 0, 1, amax) / (2 ** (bits - 1) - 1)
        return scale.astype(np.float32), np.int8(0)
    lo, hi = min(0, float(x.min())), max(0, float(x.max()))
    scale = np.float32((hi - lo) / (2**bits - 1))
    zp = int(round(-lo / scale)) - 128
    return scale, np.int8(np.clip(zp, -128, 127))


def quantize(x, scale, zp):
    return np.clip(np.rint(x / scale) + zp, -128, 127).astype(np.int8)


def dequantize(q, scale, zp):
    return (q.astype(np.int32) - int(zp)) * scale


def requant(acc, mult, shift):
    """Fixed-point multiply as in gemmlowp."""
    prod = acc.astype(np.int64) * mult
    rounding = 1 << (shift - 1)
    return ((prod + rounding) >> shift).astype(np.int32)


def frexp_mult(real):
    m, e = np.frexp(real)
    return int(round(m * (1 << 31))), 31 - int(e)


rng = np.random.default_rng(77)
x = rng.standard_normal((5, 16)).astype(np.float32)
w1 = rng.standard_normal((16, 8)).astype(np.float32)
w2 = rng.standard_normal((8, 3)).astype(np.float32)
ref = np.maximum(x @ w1, 0) @ w2
sx, zx = quant_params(x, symmetric=False)
sw, _ = quant_params(w1)
qx, qw = quantize(x, sx, zx), quantize(w1, sw, 0)
acc = qx.astype(np.int32) @ qw.astype(np.int32) - int(zx) * qw.sum(axis=0, dtype=np.int32)
h = np.maximum(acc, 0)
sh = np.float32(h.max() * sx * sw / 127)
mult, shift = frexp_mult(float(sx * sw / sh))
qh = np.clip(requant(h, mult, shift), -128, 127).astype(np.int8)
sw2, _ = quant_params(w2, axis=0)
qw2 = quantize(w2, sw2, 0)
out = (qh.astype(np.int32) @ qw2.astype(np.int32)) * (sh * sw2)
print(np.abs(out - ref).max() / np.abs(ref).max() < 0.05, zx, qx[0, :6], qh.max())
packed = ((qw2[:, 0] & 0xF) | ((qw2[:, 1] & 0xF) << 4)).astype(np.uint8)
print(packed, packed.dtype)
lo = (packed & 0xF).astype(np.int8)
lo = np.where(lo > 7, lo - 16, lo)
print(lo)
snr = 10 * np.log10((ref**2).sum() / ((ref - out) ** 2).sum())
print(f"SNR {snr:.2f} dB")
f16 = w1.astype(np.float16)
print(np.finfo(np.float16).max, np.abs(f16.astype(np.float32) - w1).max().round(6), np.iinfo(np.int16).min)
