# main(img: float64[12, 10])
#! F510: the second seam's loops go over a width that only the run knows
import numpy as np

def energy(img):
    gx = np.abs(np.diff(img, axis=1, append=img[:, -1:]))
    gy = np.abs(np.diff(img, axis=0, append=img[-1:, :]))
    return gx + gy

def find_seam(e):
    h, w = e.shape
    M = e.copy()
    back = np.zeros_like(M, dtype=int)
    for i in range(1, h):
        for j in range(w):
            lo = max(j - 1, 0)
            k = np.argmin(M[i - 1, lo:j + 2])
            back[i, j] = k + lo
            M[i, j] += M[i - 1, k + lo]
    seam = np.zeros(h, dtype=int)
    seam[-1] = np.argmin(M[-1])
    for i in range(h - 2, -1, -1):
        seam[i] = back[i + 1, seam[i + 1]]
    return seam

def main(img):
    for _ in range(2):
        seam = find_seam(energy(img))
        mask = np.ones(img.shape, bool)
        mask[np.arange(img.shape[0]), seam] = False
        img = img[mask].reshape(img.shape[0], -1)
    return img
