# main(img: float64[6, 5])
import numpy as np
def main(img):
    a = img[img.sum(axis=1) > 0]          # ? x 5
    b = a[a > a.mean()]                    # mask of (?, 5)
    c = a[:, a.sum(axis=0) > 0]            # ? x ?
    d = c[c > 0]
    e = c[~(c > 0)]
    return a, b, c, d, e, d.sum() + e.sum()
