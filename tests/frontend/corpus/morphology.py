# clean(mask: bool[14, 14])
import numpy as np
from functools import reduce


def shifts(a, fill):
    p = np.pad(a, 1, constant_values=fill)
    h, w = a.shape
    return [p[i : i + h, j : j + w] for i in range(3) for j in range(3)]


def dilate(a, n=1):
    for _ in range(n):
        a = reduce(np.logical_or, shifts(a, False))
    return a


def erode(a, n=1):
    for _ in range(n):
        a = reduce(np.logical_and, shifts(a, True))
    return a


def clean(mask):
    opened = dilate(erode(mask))
    closed = erode(dilate(mask))
    outline = mask & ~erode(mask)
    return opened, closed, outline, outline.sum()
