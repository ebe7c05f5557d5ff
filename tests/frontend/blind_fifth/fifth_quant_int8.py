import numpy as np


def quantize_per_tensor(x, n_bits=8, symmetric=True):
    qmin, qmax = (-(2 ** (n_bits - 1)), 2 ** (n_bits - 1) - 1) if symmetric else (0, 2**n_bits - 1)
    if symmetric:
        scale = max(abs(x.min()), abs(x.max())) / qmax
        zp = 0
    else:
        scale = (x.max() - x.min()) / (qmax - qmin)
        zp = int(np.clip(np.rint(qmin - x.min() / scale), qmin, qmax))
    q = np.clip(np.rint(x / scale) + zp, qmin, qmax).astype(np.int8 if symmetric else np.uint8)
    return q, np.float32(scale), zp


def quantize_per_channel(w, axis=0, n_bits=8):
    reduce_axes = tuple(i for i in range(w.ndim) if i != axis)
    amax = np.abs(w).max(axis=reduce_axes, keepdims=True)
    scale = (amax / (2 ** (n_bits - 1) - 1)).astype(np.float32)
    q = np.clip(np.round(w / scale), -128, 127).astype(np.int8)
    return q, scale


def fixed_point(m):
    """Multiplier as gemmlowp: m = m0 * 2**-shift."""
    mant, exp = np.frexp(m)
    m0 = np.round(mant * (1 << 31)).astype(np.int64)
    shift = -exp.astype(np.int64)
    over = m0 == (1 << 31)
    m0 = np.where(over, m0 // 2, m0)
    shift = np.where(over, shift - 1, shift)
    return m0, shift


def requantize(acc, m0, shift):
    prod = acc.astype(np.int64) * m0
    total = 31 + shift
    rounding = np.left_shift(np.int64(1), total - 1)
    return np.right_shift(prod + rounding, total)


def pack_int4(q):
    q = q.reshape(-1, 2)
    return ((q[:, 0] & 0xF) | ((q[:, 1] & 0xF) << 4)).astype(np.uint8)


def unpack_int4(p):
    lo = (p & 0xF).astype(np.int8)
    hi = (p >> 4).astype(np.int8)
    out = np.empty(p.size * 2, np.int8)
    out[0::2], out[1::2] = lo, hi
    out[out > 7] -= 16
    return out


rng = np.random.default_rng(7)
x = rng.uniform(-1, 3, (4, 16)).astype(np.float32)
w = rng.normal(0, 0.3, (8, 16)).astype(np.float32)
qx, sx, zx = quantize_per_tensor(x, symmetric=False)
qw, sw = quantize_per_channel(w)
acc = (qx.astype(np.int32) - zx) @ qw.T.astype(np.int32)
y = x @ w.T
sy = np.abs(y).max() / 127
m0, shift = fixed_point((sx * sw.ravel() / sy).astype(np.float64))
qy = np.clip(requantize(acc, m0, shift), -128, 127).astype(np.int8)
print(qx.dtype, zx, qw.dtype, sw.shape, acc.dtype, acc.max())
print("m0", m0[:3], "shift", shift[:3])
print(qy)
print("max err in steps", np.abs(qy - y / sy).max().round(2))
w4 = np.clip(np.rint(w / (np.abs(w).max() / 7)), -8, 7).astype(np.int8)
packed = pack_int4(w4)
assert (unpack_int4(packed).reshape(w4.shape) == w4).all()
print(packed.nbytes, w.nbytes, packed[:8], [hex(v) for v in packed[:4]])
a = np.array([100, 120, -100], dtype=np.int8)
print(a + a, a * np.int8(2), np.add(a, a, dtype=np.int16), -np.array([-128], np.int8), np.abs(np.int8([-128])))
