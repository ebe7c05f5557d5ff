import numpy as np

N = 8


def dct_matrix(n):
    k, i = np.ogrid[:n, :n]
    C = np.sqrt(2 / n) * np.cos(np.pi * (2 * i + 1) * k / (2 * n))
    C[0] /= np.sqrt(2)
    return C


C = dct_matrix(N)
Q = 4 + 3 * np.add.outer(np.arange(N), np.arange(N))
ZIGZAG = sorted(((i, j) for i in range(N) for j in range(N)), key=lambda t: (t[0] + t[1], t[0] if (t[0] + t[1]) % 2 else t[1]))


def encode(img):
    h, w = img.shape
    blocks = img.reshape(h // N, N, w // N, N).swapaxes(1, 2) - 128.0
    return np.rint(C @ blocks @ C.T / Q).astype(np.int16)


def decode(codes):
    bh, bw = codes.shape[:2]
    blocks = C.T @ (codes * Q) @ C + 128
    return np.clip(blocks, 0, 255).swapaxes(1, 2).reshape(bh * N, bw * N).round().astype(np.uint8)


def run_lengths(block):
    zeros, out = 0, []
    for i, j in ZIGZAG:
        v = int(block[i, j])
        if v == 0:
            zeros += 1
        else:
            out.append((zeros, v))
            zeros = 0
    return out + ["EOB"]


y, x = np.mgrid[:16, :24]
img = (128 + 60 * np.sin(x / 3.0) + 40 * np.cos(y / 2.0)).astype(np.uint8)
codes = encode(img)
out = decode(codes)
print(codes.shape, codes.dtype, "nonzero", np.count_nonzero(codes), "of", codes.size)
for b in codes.reshape(-1, N, N)[:2]:
    print(run_lengths(b))
err = out.astype(int) - img.astype(int)
print("max error", np.abs(err).max(), "psnr %.2f" % (20 * np.log10(255 / np.sqrt((err**2).mean()))))
print("orthogonal", np.allclose(C @ C.T, np.eye(N)))
print(out[:2, :10])
