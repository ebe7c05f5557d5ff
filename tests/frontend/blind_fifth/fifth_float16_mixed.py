import numpy as np


def loss_scale_training():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((32, 4)).astype(np.float16)
    w_true = np.array([1, -2, 0.5, 3], np.float16)
    y = X @ w_true
    master = np.zeros(4, np.float32)
    scale = 1024.0
    skipped = 0
    for it in range(60):
        w = master.astype(np.float16)
        with np.errstate(over="ignore", invalid="ignore"):
            err = X @ w - y
            grad16 = (X.T @ (err * np.float16(scale / 32))).astype(np.float16)
        if not np.isfinite(grad16).all():
            scale /= 2
            skipped += 1
            continue
        master -= 0.1 * (grad16.astype(np.float32) / np.float32(scale))
    return master, scale, skipped


w, scale, skipped = loss_scale_training()
print(w.round(2), scale, skipped)
h = np.array([1.0, 2048.0, 65504.0, 6e-8, 1e-8], dtype=np.float16)
print(h, h + np.float16(1), h * 2, h.view(np.uint16), np.finfo(np.float16).max, np.finfo(np.float16).eps)
print(np.float16(0.1), float(np.float16(0.1)), np.float16(0.1) + np.float32(0.2), np.float32(0.1) == 0.1)
print(np.arange(5, dtype=np.float16) / 3, np.mean(np.full(10, 60000, np.float16)), np.full(10, 60000, np.float16).sum(dtype=np.float32))
b = np.array([1.5, -2.25, 3.14159], np.float32)
bf = (b.view(np.uint32) + 0x7FFF + ((b.view(np.uint32) >> 16) & 1)) & np.uint32(0xFFFF0000)
print(bf.view(np.float32), [f"{v:#010x}" for v in bf])
i = np.float32(0.15625).view(np.int32)
print(f"{i:032b}", int(i) >> 23 & 0xFF, np.frombuffer(np.float64(1.5).tobytes(), dtype=np.uint64)[0])
print(np.finfo(np.float32), np.iinfo(np.int16).min, np.iinfo("uint8").max) if False else print(np.finfo(np.float32).tiny, np.iinfo(np.int16).min)
print(np.float32(16777216) + np.float32(1), np.int8(127).astype(np.uint8), np.array([300, -1]).astype(np.uint8), np.array([3.99, -3.99]).astype(int))
print(np.result_type(np.float16, np.int16), np.promote_types("i4", "f4"), np.can_cast(np.int64, np.float32), np.min_scalar_type(300))
