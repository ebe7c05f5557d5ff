import numpy as np

Q = np.array([[16, 11, 10, 16, 24, 40, 51, 61], [12, 12, 14, 19, 26, 58, 60, 55], [14, 13, 16, 24, 40, 57, 69, 56], [14, 17, 22, 29, 51, 87, 80, 62],
              [18, 22, 37, 56, 68, 109, 103, 77], [24, 35, 55, 64, 81, 104, 113, 92], [49, 64, 78, 87, 103, 121, 120, 101], [72, 92, 95, 98, 112, 100, 103, 99]])
N = 8
k, n = np.meshgrid(np.arange(N), np.arange(N), indexing="ij")
C = np.sqrt(2 / N) * np.cos(np.pi * (2 * n + 1) * k / (2 * N))
C[0] /= np.sqrt(2)


def zigzag(n):
    return sorted(((i, j) for i in range(n) for j in range(n)), key=lambda p: (p[0] + p[1], p[0] if (p[0] + p[1]) % 2 else p[1]))


ZZ = np.array(zigzag(N))


def blocks(img):
    h, w = img.shape
    return img.reshape(h // N, N, w // N, N).swapaxes(1, 2)


def unblocks(b):
    bh, bw = b.shape[:2]
    return b.swapaxes(1, 2).reshape(bh * N, bw * N)


def rle(v):
    out, run = [], 0
    for c in v:
        if c == 0:
            run += 1
        else:
            out.append((run, int(c)))
            run = 0
    out.append("EOB")
    return out


yy, xx = np.mgrid[0:16, 0:16]
img = (128 + 60 * np.sin(xx / 3) + 40 * np.cos(yy / 5)).astype(np.uint8)
b = blocks(img.astype(np.float64) - 128)
coef = C @ b @ C.T
quant = np.rint(coef / Q).astype(np.int32)
print("nonzeros", np.count_nonzero(quant), "of", quant.size)
first = quant[0, 0][ZZ[:, 0], ZZ[:, 1]]
print(rle(first))
rec = unblocks(C.T @ (quant * Q) @ C) + 128
rec = np.clip(np.round(rec), 0, 255).astype(np.uint8)
mse = np.mean((img.astype(float) - rec) ** 2)
psnr = 10 * np.log10(255**2 / mse) if mse > 0 else float("inf")
print(f"PSNR {psnr:.2f} dB")
hist, edges = np.histogram(rec, bins=8, range=(0, 256))
for h, lo in zip(hist, edges):
    print(f"{int(lo):3d} {'*' * (h // 4)}")
