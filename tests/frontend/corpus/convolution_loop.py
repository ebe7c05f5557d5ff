import numpy as np
def conv2d(img, k, pad=1, stride=1):
    img = np.pad(img, pad)
    kh, kw = k.shape
    H = (img.shape[0] - kh) // stride + 1
    W = (img.shape[1] - kw) // stride + 1
    out = np.zeros((H, W))
    for i in range(H):
        for j in range(W):
            out[i, j] = np.sum(img[i*stride:i*stride+kh, j*stride:j*stride+kw] * k)
    return out
img = np.arange(64, dtype=float).reshape(8, 8)
sobel = np.array([[1, 0, -1], [2, 0, -2], [1, 0, -1]])
print(conv2d(img, sobel))
